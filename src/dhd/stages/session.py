"""The session of one process that works on a bundle: its engine, its limits, its reports."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, TextIO

from dhd.config.load import Study
from dhd.config.models import ModelSettings
from dhd.driver import EngineQueue, JournalQueue, Peers, Reports, Session, SessionLimits
from dhd.driver.work import Output, Result
from dhd.engines.base import Engine
from dhd.engines.build import build_engine
from dhd.engines.placement import crowding_fault, gpus_of_engine, visible_gpus
from dhd.errors import EngineError
from dhd.layout import StudyPaths
from dhd.progress import Progress
from dhd.ranks.weights import engine_weights
from dhd.requests import Role
from dhd.stages.bundle_job import Allocation, BundleJob

_OUTSTANDING_PER_SLOT = 2
"""Requests kept ready for each place in an engine's batch."""


def job_queues(study: Study, job: BundleJob[Any, Any]) -> Mapping[Role, EngineQueue]:
    """Return the queue of each role; roles whose models are the same share one engine.

    Raises
    ------
    EngineError
        When the engines of different models would have to share GPUs that are too small.
    """
    _refuse_crowding(job)
    queues: dict[Role, EngineQueue] = {}
    by_model: dict[str, EngineQueue] = {}
    seed = study.settings.seed
    for role, model in job.models.items():
        name = repr(model)
        if name not in by_model and role in job.elsewhere:
            by_model[name] = JournalQueue(model.identity(), seed=seed)
        elif name not in by_model:
            build = partial(_build, study, model)
            by_model[name] = EngineQueue(
                model.identity(), build, seed=seed, gpus=gpus_of_engine(model)
            )
        queues[role] = by_model[name]
    return queues


def _refuse_crowding(job: BundleJob[Any, Any]) -> None:
    """Say what is wrong before the second engine finds no memory, in the middle of a job."""
    if len(job.asked) > 1 and visible_gpus():
        roles = {repr(model): role for role, model in job.models.items()}
        fault = crowding_fault({f"the {roles[repr(model)]}": model for model in job.asked})
        if fault is not None:
            raise EngineError(fault)


def job_session(
    study: Study,
    job: BundleJob[Result, Output],
    allocation: Allocation,
    *,
    console: TextIO | None = None,
    peers: Peers | None = None,
) -> Session[Result, Output]:
    """Return the session that works on a bundle in this process."""
    journal = study.settings.journal
    in_flight = max((model.max_in_flight for model in job.models.values()), default=1)
    limits = SessionLimits(
        max_attempts=journal.max_attempts,
        drain_s=journal.drain_s,
        stale_after_s=journal.stale_after_s,
        max_outstanding=_OUTSTANDING_PER_SLOT * in_flight,
        deadline=allocation.deadline,
        longest_request_s=journal.longest_request_s,
    )
    engines = StudyPaths.of(study.settings.study).status()
    return Session(
        job_queues(study, job),
        limits,
        Progress(job.label, job.expected, console),
        peers=peers,
        reports=Reports(job.stage, allocation.settings, engines),
    )


def _build(study: Study, model: ModelSettings) -> Engine:
    return build_engine(model, partial(engine_weights, study.site))
