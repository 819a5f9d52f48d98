"""Problems → pools and scans: the deliberation of one bundle."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal

import pyarrow as pa

from dhd.config.load import Study
from dhd.deliberation import Deliberation, ProtocolSetup, deliberate, expected_requests
from dhd.layout import StudyPaths
from dhd.problems import Problem
from dhd.prompts import PromptSet
from dhd.requests import Generate, Role
from dhd.stages.bundle_job import BundleJob
from dhd.stages.bundles import ProblemWork, bundle_shards, bundle_work
from dhd.stages.interim import call_columns, interim_table, outcome_row, write_interim

_ROLES: tuple[Role, ...] = ("recruiter", "hypothesizer", "integrator")


@dataclass(frozen=True, slots=True)
class DeliberationJob:
    """Which bundle of which family and benchmark is deliberated on."""

    family: str
    benchmark: str
    bundle: str
    kind: Literal["deliberation"] = "deliberation"

    def prepare(
        self, study: Study, handover: bytes | None = None
    ) -> BundleJob[Deliberation, dict[str, pa.Table]]:
        """Prepare the scans of the bundle's problems; its messages and outcomes are written."""
        setup = ProtocolSetup.of(study.settings, PromptSet(study.settings.prompts, study.root))
        paths, parts = StudyPaths.of(study.settings.study), (self.family, self.benchmark)
        calls = expected_requests(setup)
        work = bundle_work(
            study,
            bundle_shards(study, self.benchmark, self.bundle, stage="deliberation"),
            ProblemWork(
                partial(scan_task, setup), partial(scan_tables, self.family), lambda _: calls
            ),
            journals=paths.journals("deliberation", *parts),
        )
        stem = paths.bundle("deliberation", *parts)

        def write(tables: list[dict[str, pa.Table]]) -> None:
            for kind in ("messages", "outcomes"):
                found = [table[kind] for table in tables]
                write_interim(kind, found, stem / f"{self.bundle}.{kind}.parquet")

        return BundleJob(
            stage="/".join(("deliberation", *parts)),
            bundle=self.bundle,
            verb="deliberate",
            work=work,
            models=dict.fromkeys(_ROLES, study.actor(self.family)),
            write=write,
        )


def scan_task(
    setup: ProtocolSetup, problem: Problem
) -> Callable[[Generate], Awaitable[Deliberation]]:
    """Return the coroutine function that scans one problem."""
    return partial(deliberate, problem, setup)


def scan_tables(family: str, results: list[Deliberation]) -> dict[str, pa.Table]:
    """Return the interim messages and outcomes of some problems of one family."""
    return {
        "messages": interim_table("messages", _message_rows(family, results)),
        "outcomes": interim_table("outcomes", _outcome_rows(family, results)),
    }


def _message_rows(family: str, results: list[Deliberation]) -> Iterator[Mapping[str, Any]]:
    for result in results:
        for message in result.pool.messages:
            yield {
                "model": family,
                "problem_uid": result.problem.problem_uid,
                "message_index": message.message_index,
                "role_name": message.role.name or None,
                "role_lens": message.role.lens or None,
                **asdict(message.fields),
                "proposed_answer_extracted": message.answer,
                "rendered": message.is_rendered,
                "status": message.status,
                "reason": message.reason,
                **call_columns(message.completion),
            }


def _outcome_rows(family: str, results: list[Deliberation]) -> Iterator[Mapping[str, Any]]:
    for result in results:
        for outcome in result.outcomes:
            yield outcome_row(family, family, result.problem.problem_uid, outcome)
