"""Problems → runs of the end-to-end protocols: one bundle of one family, all protocols together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TextIO

import pandas as pd

from dhd.answers import Comparison, ComparisonPool
from dhd.config.load import Study
from dhd.config.models import ModelSettings, VllmModel
from dhd.config.protocols import ProtocolName, ProtocolsSettings
from dhd.driver import Elsewhere
from dhd.errors import ConfigError, IncompleteError
from dhd.layout import StudyPaths
from dhd.problems import Problem
from dhd.progress import Progress
from dhd.prompts import PromptSet
from dhd.prompts.protocols import ProtocolPrompts
from dhd.protocols import (
    EndToEndSetup,
    Limits,
    ProtocolRun,
    call_bounds,
    run_protocol,
    submission_count,
    together,
)
from dhd.records import TABLES, write_table
from dhd.requests import Generate, Role
from dhd.stages.bundles import bundle_shards, bundle_work, run_bundle
from dhd.stages.prepare import read_problems
from dhd.studies import Candidate, sample_problems

#: Roles that turns ask one after the other: the actor in odd turns, the evaluator in even ones.
_ROLES: Final[tuple[Role, Role]] = ("integrator", "evaluator")
#: Runs of one problem by protocol; None where a run waits for a model that another job asks.
Runs = tuple[ProtocolRun | None, ...]
_COLUMNS: Final = (
    *(column.name for column in TABLES["protocol_runs"].columns),
    *("status", "reason", "rounds", "evaluator_calls", "answered_by", "judged_by"),
)


@dataclass(frozen=True, slots=True)
class ProtocolJob:
    """Which bundle of which family runs, and in which turn.

    Attributes
    ----------
    family, benchmark, bundle
        What is worked on.
    turn
        From 1 to `protocol_turns` where actor and evaluator are asked by turns; 0 where one
        job asks both.
    """

    family: str
    benchmark: str
    bundle: str
    turn: int = 0


def protocol_families(study: Study) -> tuple[str, ...]:
    """Return the families whose protocols run; none when the study does not have them."""
    protocols = study.settings.studies.protocols
    if protocols is None:
        return ()
    return tuple(protocols.families or study.settings.families)


def protocol_models(study: Study, family: str) -> dict[Role, ModelSettings]:
    """Return the models of a family's protocols by role; without evaluator where rules do all."""
    models: dict[Role, ModelSettings] = {"integrator": study.actor(family)}
    protocols = _settings(study)
    key = study.settings.judging.evaluator or protocols.hint_writer
    if key is not None:
        models["evaluator"] = study.models[key]
    return models


def protocol_turns(study: Study, family: str) -> int:
    """Return how many jobs take turns on a bundle; 0 where one job asks actor and evaluator.

    A run with n submissions takes 2n turns: each is made in the actor's turn and judged in the
    evaluator's (PER: attempt, judge, repair, judge again in each round).
    """
    actor, *others = protocol_models(study, family).values()
    protocols = _settings(study)
    if not others or repr(actor) == repr(others[0]):
        return 0
    are_apart = isinstance(actor, VllmModel) and isinstance(others[0], VllmModel)
    if not (are_apart if protocols.alternate is None else protocols.alternate):
        return 0
    limits = Limits.of(protocols, study.settings.judging.max_attempts)
    return 2 * max(submission_count(name, limits) for name in protocols.names)


def turn_model(study: Study, family: str, turn: int) -> ModelSettings:
    """Return the model that a turn asks; the actor's for turn 0, which asks all."""
    models = protocol_models(study, family)
    return models[_ROLES[(turn - 1) % 2]] if turn else models["integrator"]


def protocol_setup(study: Study, family: str) -> EndToEndSetup:
    """Return the setup of a family's protocols."""
    settings = study.settings
    return EndToEndSetup.of(
        family,
        settings,
        _settings(study),
        PromptSet(settings.prompts, study.root),
        ProtocolPrompts(settings.prompts, study.root),
    )


def protocol_problems(study: Study, benchmark: str) -> frozenset[str]:
    """Return the problems of a benchmark that the protocols run on, the same for all families."""
    settings = study.settings
    problems = read_problems(StudyPaths.of(settings.study).problems(benchmark))
    candidates = [Candidate(problem.problem_uid) for problem in problems]
    chosen = sample_problems(
        candidates,
        _settings(study).problems or len(candidates),
        seed=settings.studies.seed,
        label=f"protocols/{benchmark}",
    )
    return frozenset(one.problem_uid for one in chosen)


def run_protocols(study: Study, job: ProtocolJob, out: Path, console: TextIO | None = None) -> None:
    """Run all protocols on the problems of one bundle and write the runs that ended.

    All turns of a bundle share its journals. A turn asks one model only and replays what the
    other answered before; after the last one every run has ended.

    Raises
    ------
    IncompleteError
        When requests failed that a later run asks again, the job was told to stop, or runs
        are unfinished in the last turn because an earlier one is missing.
    """
    protocols, setup = _settings(study), protocol_setup(study, job.family)
    models = protocol_models(study, job.family)
    asked = _ROLES if job.turn == 0 else (_ROLES[(job.turn - 1) % 2],)
    with _Rules(study) as rules:
        compare = None if study.settings.judging.method == "llm" else rules.compare
        work = bundle_work(
            study,
            bundle_shards(study, job.benchmark, job.bundle, stage="protocols"),
            journals=_journals(study, job),
            task=partial(_task, tuple(protocols.names), setup, compare),
            gather=list,
            among=protocol_problems(study, job.benchmark),
        )
        calls = sum(call_bounds(name, setup).fewest for name in protocols.names)
        results = run_bundle(
            study,
            work,
            models=models,
            progress=Progress(_label(job), calls * sum(len(one.tasks) for one in work), console),
            elsewhere=[role for role in models if role not in asked],
        )
    found = [one for shard in results for one in shard]
    unfinished = sum(run is None for _, runs in found for run in runs)
    if unfinished and job.turn in (0, protocol_turns(study, job.family)):
        raise IncompleteError(
            f"{_label(job)}: {unfinished} run(s) wait for a model that an earlier turn should "
            "have asked; delete the bundle's turn files and run again"
        )
    rows = [_row(job.family, problem, run) for problem, runs in found for run in runs if run]
    write_table("protocol_runs", pd.DataFrame(rows, columns=list(_COLUMNS), dtype=object), out)


def _settings(study: Study) -> ProtocolsSettings:
    protocols = study.settings.studies.protocols
    if protocols is None:
        raise ConfigError("studies.protocols: not in the config; add the section to run it")
    return protocols


def _journals(study: Study, job: ProtocolJob) -> Path:
    return StudyPaths.of(study.settings.study).journals("protocols", job.family, job.benchmark)


def _label(job: ProtocolJob) -> str:
    turn = f" turn {job.turn}" if job.turn else ""
    return f"protocols {job.family}/{job.benchmark}/{job.bundle}{turn}"


def _task(
    names: Sequence[ProtocolName],
    setup: EndToEndSetup,
    compare: Callable[[Problem, str], Awaitable[Comparison]] | None,
    problem: Problem,
) -> Callable[[Generate], Awaitable[tuple[Problem, Runs]]]:
    """Return the coroutine function that runs the protocols on one problem, side by side."""

    async def run(name: ProtocolName, generate: Generate) -> ProtocolRun | None:
        try:
            return await run_protocol(name, problem, setup, generate, compare)
        except Elsewhere:
            return None

    async def run_all(generate: Generate) -> tuple[Problem, Runs]:
        return problem, tuple(await together(*(run(name, generate) for name in names)))

    return run_all


def _row(family: str, problem: Problem, run: ProtocolRun) -> dict[str, Any]:
    return {
        **asdict(run),
        "model": family,
        "problem_uid": problem.problem_uid,
        "correct": None if run.correct is None else int(run.correct),
    }


class _Rules:
    """Compares answers by rules beside the event loop, one at a time, each pair once."""

    def __init__(self, study: Study) -> None:
        self._pool = ComparisonPool(limit_s=study.settings.judging.comparison_limit_s)
        self._lock = asyncio.Lock()
        self._known: dict[tuple[str, str], Comparison] = {}

    def __enter__(self) -> _Rules:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()

    async def compare(self, problem: Problem, answer: str) -> Comparison:
        """Compare one answer with the problem's reference."""
        key = (problem.problem_uid, answer)
        async with self._lock:
            if key not in self._known:
                compared = await asyncio.to_thread(self._pool.compare, problem, answer)
                self._known[key] = compared
        return self._known[key]
