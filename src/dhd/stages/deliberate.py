"""Problems → pools and scans: the deliberation of one bundle."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any, TextIO

import pyarrow as pa

from dhd.config.load import Study
from dhd.deliberation import Deliberation, ProtocolSetup, deliberate, expected_requests
from dhd.layout import StudyPaths
from dhd.problems import Problem
from dhd.progress import Progress
from dhd.prompts import PromptSet
from dhd.requests import Generate, Role
from dhd.stages.bundles import bundle_shards, bundle_work, run_bundle
from dhd.stages.interim import call_columns, interim_table, outcome_row, write_interim

_ROLES: tuple[Role, ...] = ("recruiter", "hypothesizer", "integrator")


def deliberate_bundle(
    study: Study, family: str, benchmark: str, bundle: str, console: TextIO | None = None
) -> None:
    """Deliberate on the problems of one bundle and write its messages and outcomes.

    Requests that a journal holds are not asked again; when it holds all, no engine starts.

    Raises
    ------
    IncompleteError
        When requests failed that a later run asks again, or the job was told to stop.
    """
    setup = ProtocolSetup.of(study.settings, PromptSet(study.settings.prompts, study.root))
    shards = bundle_shards(study, benchmark, bundle, stage="deliberation")
    paths = StudyPaths.of(study.settings.study)
    work = bundle_work(
        study,
        shards,
        journals=paths.journals("deliberation", family, benchmark),
        task=partial(scan_task, setup),
        gather=partial(scan_tables, family),
    )
    problems = sum(len(one.tasks) for one in work)
    tables = run_bundle(
        study,
        work,
        models={role: study.actor(family) for role in _ROLES},
        progress=Progress(
            f"deliberate {family}/{benchmark}/{bundle}",
            problems * expected_requests(setup),
            console,
        ),
    )
    stem = paths.bundle("deliberation", family, benchmark)
    for kind in ("messages", "outcomes"):
        write_interim(kind, [table[kind] for table in tables], stem / f"{bundle}.{kind}.parquet")


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
