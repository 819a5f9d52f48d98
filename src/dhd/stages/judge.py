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
from typing import Any, Literal

from pydantic import TypeAdapter

from dhd.config.load import Study
from dhd.deliberation import ProtocolSetup
from dhd.driver import ShardWork
from dhd.judging import Judgement, Submission, distinct_submissions, judge_with_model
from dhd.layout import Shard, StudyPaths
from dhd.problems import Problem
from dhd.prompts import PromptSet
from dhd.requests import Generate
from dhd.stages.bundle_job import BundleJob
from dhd.stages.bundles import ProblemWork, Stage, bundle_shards, bundle_work
from dhd.stages.interim import call_columns, interim_table, read_interim, write_interim
from dhd.stages.parts import SCAN
from dhd.stages.prepare import read_problems
from dhd.stages.rules import comparison_pool

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


_SUBMISSIONS = TypeAdapter(list[Submission])


@dataclass(frozen=True, slots=True)
class JudgingJob:
    """Which bundle is judged: of the scan or of a replay study, on one benchmark.

    All parts of a study share the evaluator's journals: an answer that the scan submitted is
    not judged again for a replay study.

    Attributes
    ----------
    part, benchmark, bundle
        What is judged.
    sources
        Interim messages and outcomes of the bundles that hold these problems.
    out
        Where the judgements go.
    """

    part: str
    benchmark: str
    bundle: str
    sources: tuple[Path, ...]
    out: Path
    kind: Literal["judging"] = "judging"

    def prepare(
        self, study: Study, handover: bytes | None = None
    ) -> BundleJob[list[Judgement], list[Judgement]]:
        """Prepare the evaluation of what rules do not decide.

        Rules are applied here and once: workers are handed the submissions that are left.
        """
        stage: Stage = "judging" if self.part == SCAN else "replays"
        shards = bundle_shards(study, self.benchmark, self.bundle, stage=stage)
        ruled: list[Judgement] = []
        if handover is None:
            ruled, left = _rule(study, self.sources, _problems(study, shards))
        else:
            left = _SUBMISSIONS.validate_json(handover)

        def write(shards: list[list[Judgement]]) -> None:
            judged = sorted(
                (one for some in (ruled, *shards) for one in some), key=lambda one: one.submission
            )
            write_interim("judgements", [interim_table("judgements", map(_row, judged))], self.out)

        evaluator = study.evaluator()
        return BundleJob(
            stage="/".join(("judging", self.part, self.benchmark)),
            bundle=self.bundle,
            verb="judge",
            work=_evaluations(study, shards, left),
            models={} if evaluator is None else {"evaluator": evaluator},
            write=write,
            handover=_SUBMISSIONS.dump_json(left),
        )


def _rule(
    study: Study, sources: Sequence[Path], problems: Mapping[str, Problem]
) -> tuple[list[Judgement], list[Submission]]:
    """Return the judgements of rules, and the submissions that are left to the evaluator."""
    submissions = _submissions(study, sources, problems)
    method = study.settings.judging.method
    if method == "llm":
        return [], list(submissions)
    judged = _by_rules(study, submissions, problems)
    if method == "rules":
        return judged, []
    left = [one.submission for one in judged if one.correct is None]
    return [one for one in judged if one.correct is not None], left


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
    with comparison_pool(study) as pool:
        compared = pool.compare_many(pairs)
    return [
        Judgement(submission, result.equivalent, _RULES, result.reason)
        for submission, result in zip(submissions, compared, strict=True)
    ]


def _evaluations(
    study: Study, shards: Sequence[Shard], submissions: Sequence[Submission]
) -> list[ShardWork[list[Judgement], list[Judgement]]]:
    """Return the evaluator's work on some submissions; none where there are none."""
    if not submissions:
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

    journals = StudyPaths.of(settings.study).journals(
        "judging", str(settings.judging.evaluator), shards[0].benchmark
    )
    return bundle_work(
        study,
        shards,
        ProblemWork(
            task=lambda problem: partial(judge_problem, problem),
            gather=lambda results: [one for judgements in results for one in judgements],
            calls=lambda problem: len(by_problem[problem.problem_uid]),
        ),
        journals=journals,
        among=by_problem,
    )


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
