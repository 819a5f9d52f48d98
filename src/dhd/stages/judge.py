"""Submissions → judgements: the judging of one bundle, all families together.

Families share judgements: an answer that two of them submit to one problem is judged once.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from dhd.answers import ComparisonPool
from dhd.config.load import Study
from dhd.deliberation import ProtocolSetup
from dhd.driver import ShardWork
from dhd.judging import Judgement, Submission, distinct_submissions, judge_with_model
from dhd.layout import Shard, StudyPaths
from dhd.problems import Problem
from dhd.progress import Progress
from dhd.prompts import PromptSet
from dhd.requests import Generate
from dhd.stages.bundles import Stage, bundle_shards, bundle_work, run_bundle
from dhd.stages.interim import call_columns, interim_table, read_interim, write_interim
from dhd.stages.parts import SCAN
from dhd.stages.prepare import read_problems

_RULES = "rules"
_MESSAGE_CELL = ("model", "message_index")
_OUTCOME_CELL = (
    "study",
    "model",
    "integrator",
    "condition",
    "k",
    "message_index",
    "block",
    "repeat",
)


@dataclass(frozen=True, slots=True)
class JudgingJob:
    """Which bundle is judged: of the scan or of a replay study, on one benchmark."""

    part: str
    benchmark: str
    bundle: str

    @property
    def stage(self) -> Stage:
        """Return the stage whose bundles are meant."""
        return "judging" if self.part == SCAN else "replays"


def judge_bundle(
    study: Study,
    job: JudgingJob,
    sources: Sequence[Path],
    out: Path,
    console: TextIO | None = None,
) -> None:
    """Judge every submission of one bundle's problems.

    All parts of a study share the evaluator's journals: an answer that the scan submitted is
    not judged again for a replay study.

    Parameters
    ----------
    sources
        Interim messages and outcomes of the bundles that hold these problems.
    out
        Where the judgements go.

    Raises
    ------
    IncompleteError
        When evaluations failed that a later run asks again, or the job was told to stop.
    """
    shards = bundle_shards(study, job.benchmark, job.bundle, stage=job.stage)
    problems = _problems(study, shards)
    submissions = _submissions(study, sources, problems)
    judged: list[Judgement] = []
    if study.settings.judging.method != "llm":
        judged = _by_rules(study, submissions, problems)
    if study.settings.judging.method != "rules":
        decided = {one.submission for one in judged if one.correct is not None}
        left = [one for one in submissions if one not in decided]
        judged = [one for one in judged if one.correct is not None]
        progress = Progress(f"judge {job.part}/{job.benchmark}/{job.bundle}", len(left), console)
        judged += _by_model(study, shards, left, progress)
    judged.sort(key=lambda one: one.submission)
    write_interim("judgements", [interim_table("judgements", map(_row, judged))], out)


def _problems(study: Study, shards: Sequence[Shard]) -> dict[str, Problem]:
    path = StudyPaths.of(study.settings.study).problems(shards[0].benchmark)
    chosen = read_problems(path)[shards[0].start : shards[-1].stop]
    return {problem.problem_uid: problem for problem in chosen}


def _submissions(
    study: Study, sources: Sequence[Path], problems: Mapping[str, Problem]
) -> tuple[Submission, ...]:
    rows = (row for path in sources for row in answer_rows(path))
    share = study.settings.judging.share_identical_submissions
    return distinct_submissions((row for row in rows if row[0] in problems), share=share)


def answer_rows(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (problem_uid, answer, cell) of an interim file's rows that have an answer."""
    is_message = path.name.endswith(".messages.parquet")
    table = read_interim("messages" if is_message else "outcomes", path)
    column = "proposed_answer_extracted" if is_message else "answer"
    answered = table.filter(table[column].is_valid())
    parts = _MESSAGE_CELL if is_message else _OUTCOME_CELL
    rows = answered.select(["problem_uid", column, *parts]).to_pydict()
    yield from zip(rows["problem_uid"], rows[column], cells_of(rows), strict=True)


def cells_of(rows: Mapping[str, Iterable[Any]]) -> list[str]:
    """Return what identifies each message or outcome beside its problem, as a draw id.

    Parameters
    ----------
    rows
        Columns by name: a frame, or a dictionary of lists.
    """
    if "condition" not in rows:
        parts = zip(*(rows[name] for name in _MESSAGE_CELL), strict=True)
        return [f"judge/{model}/proposed/i={index}" for model, index in parts]
    values = zip(*(rows[name] for name in _OUTCOME_CELL), strict=True)
    return ["judge/" + "/".join(map(str, value)) for value in values]


def _by_rules(
    study: Study, submissions: Sequence[Submission], problems: Mapping[str, Problem]
) -> list[Judgement]:
    pairs = [(problems[one.problem_uid], one.answer) for one in submissions]
    # Prompts show units without their powers of ten, so the full value is the right answer.
    limit_s = study.settings.judging.comparison_limit_s
    with ComparisonPool(limit_s=limit_s, prompt_shows_factor=False) as pool:
        compared = pool.compare_many(pairs)
    return [
        Judgement(submission, result.equivalent, _RULES, result.reason)
        for submission, result in zip(submissions, compared, strict=True)
    ]


def _by_model(
    study: Study, shards: Sequence[Shard], submissions: Sequence[Submission], progress: Progress
) -> list[Judgement]:
    evaluator = study.evaluator()
    if evaluator is None or not submissions:
        return []
    settings = study.settings
    by_problem: dict[str, list[Submission]] = defaultdict(list)
    for submission in submissions:
        by_problem[submission.problem_uid].append(submission)
    setup = ProtocolSetup.of(settings, PromptSet(settings.prompts, study.root))

    async def judge_problem(problem: Problem, generate: Generate) -> list[Judgement]:
        return await asyncio.gather(
            *(
                judge_with_model(
                    problem, submission, setup, settings.judging.max_attempts, generate
                )
                for submission in by_problem[problem.problem_uid]
            )
        )

    benchmark = shards[0].benchmark
    journals = StudyPaths.of(settings.study).journals(
        "judging", str(settings.judging.evaluator), benchmark
    )
    work: list[ShardWork[list[Judgement], list[Judgement]]] = bundle_work(
        study,
        shards,
        journals=journals,
        task=lambda problem: partial(judge_problem, problem),
        gather=lambda results: [one for judgements in results for one in judgements],
        among=by_problem,
    )
    judged = run_bundle(study, work, models={"evaluator": evaluator}, progress=progress)
    return [judgement for shard in judged for judgement in shard]


def _row(judgement: Judgement) -> dict[str, Any]:
    return {
        "problem_uid": judgement.submission.problem_uid,
        "answer": judgement.submission.answer,
        "cell": judgement.submission.cell,
        "correct": None if judgement.correct is None else int(judgement.correct),
        "judged_by": judgement.judged_by,
        "reason": judgement.reason,
        **call_columns(judgement.completion),
    }
