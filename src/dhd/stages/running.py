"""Running one bundle, in this process or by workers on many nodes."""

from __future__ import annotations

from typing import Any, TextIO

from dhd.config.load import Study
from dhd.driver import Session
from dhd.engines.placement import engines_of_job
from dhd.ranks.leader import lead
from dhd.stages.bundle_job import Allocation
from dhd.stages.session import job_session
from dhd.stages.specs import AnySpec

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
        When requests failed that a later run asks again, the job was told to stop, or runs out
        of walltime.
    """
    job = spec.prepare(study)
    try:
        gpus = 0 if study.site is None else study.site.gpus_of_node
        per_node = engines_of_job(job.asked, gpus)
        if not job.work:
            outputs = {}
        elif allocation.nodes * per_node > 1:
            outputs = lead(study, spec, job, allocation, console)
        else:
            session: Session[Any, Any] = job_session(study, job, allocation, console=console)
            outputs = session.run(job.work)
        job.write([outputs[one.name] for one in job.work])
    finally:
        job.close()
