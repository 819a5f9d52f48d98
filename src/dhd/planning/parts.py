"""What the parts of a study ask about one problem: scan, replays, protocols, audits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dhd.config.load import Study
from dhd.config.studies import (
    IntegratorSwapSettings,
    MaskingSettings,
    OrderSettings,
    RepeatsSettings,
    ReplayStudy,
)
from dhd.deliberation import Pool, ProtocolSetup, deliberate
from dhd.judging import Submission, distinct_submissions, judge_with_model
from dhd.planning.counts import Counts, Line
from dhd.planning.judges import PlannedRules
from dhd.problems import Problem
from dhd.prompts import PromptSet
from dhd.protocols import run_protocol
from dhd.requests import Generate, Role
from dhd.stages.deliberate import scan_tables
from dhd.stages.interim import interim_table, outcome_row
from dhd.stages.judge import cells_of
from dhd.stages.parts import SCAN
from dhd.stages.protocols import protocol_families, protocol_setup
from dhd.stages.replays import replay_setup
from dhd.studies import masking_schedule, order_schedule, repeats_schedule, replay_schedule
from dhd.studies.schedules import Schedule

Answers = list[tuple[str | None, str]]
"""Answers with the cells that they were given in."""


class BenchmarkPilot:
    """Runs all parts of a study on problems of one benchmark.

    Parameters
    ----------
    study
        The study that is planned.
    counts
        Where requests are answered and counted.
    rules
        How rules compare the answers of the protocols.
    size
        Problems of the benchmark.
    """

    def __init__(self, study: Study, counts: Counts, rules: PlannedRules, size: int) -> None:
        self._study = study
        self._counts = counts
        self._rules = rules
        self._size = size
        self._scan = ProtocolSetup.of(study.settings, PromptSet(study.settings.prompts, study.root))
        self._replays = replay_setup(study)
        self._protocols = {
            family: protocol_setup(study, family) for family in protocol_families(study)
        }

    async def run(self, problem: Problem) -> None:
        """Run everything on one problem."""
        pools, answers = await self._run_scan(problem)
        for replay in self._study.settings.studies.replays():
            await self._run_replay(problem, replay, pools)
        await self._run_protocols(problem)
        await self._run_audit(problem, answers)

    async def _run_scan(self, problem: Problem) -> tuple[dict[str, Pool], Answers]:
        pools: dict[str, Pool] = {}
        answers: Answers = []
        for family, entry in self._study.settings.families.items():
            line = Line(SCAN, "deliberation", family, entry.actor, problem.benchmark)
            generate = self._counts.generate({"integrator": line}, self._size)
            result = await deliberate(problem, self._scan, generate)
            pools[family] = result.pool
            tables = scan_tables(family, [result])
            for kind, column in (("messages", "proposed_answer_extracted"), ("outcomes", "answer")):
                answers += _answers(tables[kind].to_pydict(), column)
        await self._judge(SCAN, problem, answers, self._size)
        return pools, answers

    async def _run_replay(
        self, problem: Problem, replay: ReplayStudy, pools: Mapping[str, Pool]
    ) -> None:
        """Replay the pools that are whole; those that are not are never in a sample."""
        answers: dict[str, Answers] = {}
        problems = replayed_problems(self._study, replay, self._size)
        for family, integrator in self._study.settings.replay_pairs(replay):
            if not all(message.is_rendered for message in pools[family].messages):
                continue
            actor = self._study.settings.families[integrator].actor
            line = Line(replay, "replays", family, actor, problem.benchmark)
            outcomes = await replay_schedule(
                problem,
                pools[family],
                replay_calls(self._study, replay),
                self._replays,
                self._counts.generate({"integrator": line}, problems),
            )
            rows = [outcome_row(family, integrator, problem.problem_uid, one) for one in outcomes]
            given = _answers(interim_table("outcomes", rows).to_pydict(), "answer")
            answers.setdefault(family, []).extend(given)
        for family, submitted in answers.items():
            await self._judge(replay, problem, submitted, problems, family)

    async def _judge(
        self, part: str, problem: Problem, answers: Answers, problems: float, group: str = ""
    ) -> None:
        judging = self._study.settings.judging
        if judging.evaluator is None:
            return
        line = Line(part, "judging", "", judging.evaluator, problem.benchmark)
        submissions = distinct_submissions(
            ((problem.problem_uid, answer, cell) for answer, cell in answers if answer is not None),
            share=judging.share_identical_submissions,
        )
        generate = self._counts.generate({"evaluator": line}, problems, group)
        await self._evaluate(problem, submissions, generate)

    async def _evaluate(
        self, problem: Problem, submissions: Iterable[Submission], generate: Generate
    ) -> None:
        attempts = self._study.settings.judging.max_attempts
        for submission in submissions:
            await judge_with_model(problem, submission, self._scan, attempts, generate)

    async def _run_protocols(self, problem: Problem) -> None:
        protocols = self._study.settings.studies.protocols
        if protocols is None:
            return
        problems = min(protocols.problems or self._size, self._size)
        evaluator = self._study.settings.judging.evaluator or protocols.hint_writer
        for family, setup in self._protocols.items():
            actor = self._study.settings.families[family].actor
            compare = self._rules.compare(family)
            for name in protocols.names:
                lines: dict[Role, Line] = {
                    "integrator": Line("protocols", name, family, actor, problem.benchmark)
                }
                if evaluator is not None:
                    lines["evaluator"] = Line(
                        "protocols", name, family, evaluator, problem.benchmark
                    )
                generate = self._counts.generate(lines, problems)
                await run_protocol(name, problem, setup, generate, compare)

    async def _run_audit(self, problem: Problem, answers: Answers) -> None:
        """Let every evaluator judge as many answers as a problem has in the sample."""
        audit = self._study.settings.studies.evaluators
        if audit is None:
            return
        families = len(self._study.settings.families)
        wanted = (audit.submissions + 3 * audit.triplets * families) / len(
            self._study.settings.benchmarks
        )
        each = max(1, round(wanted / self._size))
        share = self._study.settings.judging.share_identical_submissions
        given = [(answer, cell) for answer, cell in answers if answer is not None]
        step = max(1, len(given) // each)
        chosen = distinct_submissions(
            (
                (problem.problem_uid, answer, "audit" if share else f"audit/{cell}")
                for answer, cell in given[::step][:each]
            ),
            share=False,
        )
        for evaluator in audit.models:
            line = Line("evaluators", "audit", "", evaluator, problem.benchmark)
            generate = self._counts.generate({"evaluator": line}, wanted / each)
            await self._evaluate(problem, chosen, generate)


def _answers(columns: Mapping[str, list[str | None]], column: str) -> Answers:
    return list(zip(columns[column], cells_of(columns), strict=True))


def replayed_problems(study: Study, replay: ReplayStudy, size: int) -> float:
    """Return how many problems of a benchmark a study replays, per family.

    The cases of masking count as problems; which benchmarks they come from is not known
    before, so they are spread evenly.
    """
    settings = study.settings.studies.replays()[replay]
    if isinstance(settings, MaskingSettings):
        return sum(settings.cases.values()) / len(study.settings.benchmarks)
    return min(settings.problems, size)


def replay_calls(study: Study, replay: ReplayStudy) -> Schedule:
    """Return the calls that a study makes on one problem, or on one case of masking."""
    studies = study.settings.studies
    match studies.replays()[replay]:
        case MaskingSettings(repetitions=repetitions):
            return masking_schedule(1, repetitions)
        case OrderSettings(blocks=blocks):
            return order_schedule(blocks, seed=studies.seed, label="plan")
        case RepeatsSettings(blocks=blocks) | IntegratorSwapSettings(blocks=blocks):
            return repeats_schedule(blocks, replay)
