"""Audit sample → evaluations of every evaluator (Appendix K)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import pandas as pd

from dhd.answers import normalise_answer
from dhd.audits import AuditSubmission
from dhd.config.load import Study
from dhd.deliberation import ProtocolSetup
from dhd.judging import Judgement, Submission, judge_with_model
from dhd.layout import StudyPaths
from dhd.problems import Problem
from dhd.prompts import PromptSet
from dhd.records import TABLES, write_table
from dhd.requests import Generate
from dhd.stages.bundle_job import BundleJob
from dhd.stages.bundles import ProblemWork, bundle_work, study_bundles
from dhd.stages.interim import call_columns
from dhd.stages.manifests import read_manifest

Judged = tuple[AuditSubmission, Judgement]
_COLUMNS: Final = (
    *(column.name for column in TABLES["evaluations"].columns),
    *("judged_by", "reason"),
    *call_columns(None),
)


@dataclass(frozen=True, slots=True)
class AuditJob:
    """Which evaluator judges the sample's submissions to which benchmark.

    Attributes
    ----------
    evaluator
        Key of its model.
    benchmark
        Whose problems.
    manifest
        The sample.
    out
        Where its verdicts go.
    """

    evaluator: str
    benchmark: str
    manifest: Path
    out: Path
    kind: Literal["audits"] = "audits"

    def prepare(
        self, study: Study, handover: bytes | None = None
    ) -> BundleJob[list[Judged], list[Judged]]:
        """Prepare the evaluation of the sampled submissions; the verdicts are written."""
        by_problem: dict[str, list[AuditSubmission]] = defaultdict(list)
        for row in read_manifest(self.manifest)["submissions"]:
            if row["benchmark"] == self.benchmark:
                by_problem[row["problem_uid"]].append(AuditSubmission(**row))
        setup = ProtocolSetup.of(study.settings, PromptSet(study.settings.prompts, study.root))
        bundles = study_bundles(study, self.benchmark, "judging").values()
        parts = (self.evaluator, self.benchmark)
        work = bundle_work(
            study,
            [shard for shards in bundles for shard in shards],
            ProblemWork(
                task=lambda problem: partial(
                    _judge_problem, study, setup, by_problem[problem.problem_uid], problem
                ),
                gather=lambda results: [one for judged in results for one in judged],
                calls=lambda problem: len(by_problem[problem.problem_uid]),
            ),
            journals=StudyPaths.of(study.settings.study).journals("audits", *parts),
            among=by_problem,
            manifest=self.manifest,
        )

        def write(judged: list[list[Judged]]) -> None:
            rows = [_row(self.evaluator, *one) for shard in judged for one in shard]
            frame = pd.DataFrame(rows, columns=list(_COLUMNS), dtype=object)
            write_table("evaluations", frame, self.out)

        return BundleJob(
            stage="/".join(("audits", *parts)),
            bundle="all",
            verb="audit",
            work=work,
            models={"evaluator": study.models[self.evaluator]},
            write=write,
        )


async def _judge_problem(
    study: Study,
    setup: ProtocolSetup,
    submissions: Sequence[AuditSubmission],
    problem: Problem,
    generate: Generate,
) -> list[Judged]:
    """Judge the submissions to one problem: answers apart from the study's own verdicts."""
    judging = study.settings.judging
    asked = [
        Submission(
            problem.problem_uid,
            normalise_answer(one.submitted),
            "audit" if judging.share_identical_submissions else f"audit/{one.submission_id}",
        )
        for one in submissions
    ]
    judged = await asyncio.gather(
        *(judge_with_model(problem, one, setup, judging.max_attempts, generate) for one in asked)
    )
    return list(zip(submissions, judged, strict=True))


def _row(evaluator: str, submission: AuditSubmission, judgement: Judgement) -> dict[str, Any]:
    return {
        **asdict(submission),
        "evaluator": evaluator,
        "verdict": None if judgement.correct is None else int(judgement.correct),
        "judged_by": judgement.judged_by,
        "reason": judgement.reason,
        **call_columns(judgement.completion),
    }
