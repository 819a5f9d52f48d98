"""Running one bundle, in this process or by workers on many nodes."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TextIO

from dhd.config.load import Study
from dhd.driver import Session
from dhd.engines.placement import engines_of_job
from dhd.layout import StudyPaths
from dhd.ranks.leader import lead
from dhd.schedulers.controller import controller_of
from dhd.stages.bundle_job import Allocation, BundleJob
from dhd.stages.session import job_session
from dhd.stages.specs import AnySpec
from dhd.stages.tries import tries_with_progress

_ALONE = Allocation()


def run_bundle(
    study: Study,
    spec: AnySpec,
    allocation: Allocation = _ALONE,
    console: TextIO | None = None,
) -> None:
    """Work one bundle off and write what it declares.

    Requests that a journal holds are not asked again; when it holds all, no engine starts. A
    job that has several engines, on one node or more, starts a worker for each.

    Raises
    ------
    IncompleteError
        When requests failed that a later run asks again, the job was told to stop, runs out of
        walltime, or is one of too many on a cluster that finished nothing.
    """
    job = spec.prepare(study)
    try:
        with _tries(study, job):
            outputs = _outputs(study, spec, job, allocation, console)
        job.write([outputs[one.name] for one in job.work])
    finally:
        job.close()


def _tries(study: Study, job: BundleJob[Any, Any]) -> AbstractContextManager[None]:
    """Return what bounds the tries of a cluster's job; on one machine nothing is tried again."""
    if study.site is None:
        return nullcontext()
    note = StudyPaths.of(study.settings.study).runs(job.stage, f"{job.bundle}.tries.json")
    journals = [one.journal for one in job.work]
    return tries_with_progress(note, journals, run=controller_of(Path.cwd()))


def _outputs(
    study: Study,
    spec: AnySpec,
    job: BundleJob[Any, Any],
    allocation: Allocation,
    console: TextIO | None,
) -> dict[str, Any]:
    """Return what is kept of each shard, by name."""
    gpus = 0 if study.site is None else study.site.gpus_of_node
    if not job.work:
        return {}
    if allocation.nodes * engines_of_job(job.asked, gpus) > 1:
        return lead(study, spec, job, allocation, console)
    session: Session[Any, Any] = job_session(study, job, allocation, console=console)
    return session.run(job.work)
