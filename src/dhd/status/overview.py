"""The state of one study: progress, engines, and an estimate of what is left."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dhd.records.failures import study_failures
from dhd.status.engines import Engines, count_engines
from dhd.status.files import read_engines
from dhd.status.outputs import lacking_results
from dhd.status.plan import StudyPlan, plan_path, read_plan
from dhd.status.shards import Progress, count_progress

_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is left.

    Attributes
    ----------
    engine_hours, gpu_hours
        Time of one engine, and of GPUs, for the groups whose pace is known.
    hours
        Time to the end with the engines that are up now; None when none is.
    unknown
        Groups of which too little has run to tell, so that they are not in the numbers.
    """

    engine_hours: float
    gpu_hours: float
    hours: float | None
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """The state of one study at one time (seconds since the epoch).

    Attributes
    ----------
    lacking
        Results that are not there though all shards are done, and what to do; empty otherwise.
    failures
        Which messages and outcomes are lacking and why, in lines.
    """

    study: str
    time: float
    groups: Mapping[str, Progress]
    engines: Engines
    estimate: Estimate
    lacking: str = ""
    failures: tuple[str, ...] = ()

    @property
    def is_asked(self) -> bool:
        """Return whether all shards are done."""
        return _is_asked(self.groups)

    @property
    def is_finished(self) -> bool:
        """Return whether all shards are done and the results are there."""
        return self.is_asked and not self.lacking


def study_overview(folder: Path, now: float | None = None) -> Overview:
    """Return how far the study in ``folder`` is, from its files alone.

    Parameters
    ----------
    folder
        ``results/<study>``.
    now
        Seconds since the epoch; the clock's time where it is not given.

    Raises
    ------
    RecordsError
        When no plan of the study was noted.
    """
    plan = read_plan(folder)
    now = time.time() if now is None else now
    groups = count_progress(plan, folder, now)
    place = plan_path(folder)
    documents = read_engines(place.parent, without=place.name)
    engines = count_engines(plan, documents, now, plan.stale_after_s)
    return Overview(
        study=plan.study,
        time=now,
        groups=groups,
        engines=engines,
        estimate=_estimate(plan, groups, engines),
        lacking=lacking_results(folder) if _is_asked(groups) else "",
        failures=tuple(study_failures(folder)),
    )


def _is_asked(groups: Mapping[str, Progress]) -> bool:
    return all(one.done == one.shards for one in groups.values())


def _estimate(plan: StudyPlan, groups: Mapping[str, Progress], engines: Engines) -> Estimate:
    models = {stage.group: stage.model for stage in plan.stages}
    seconds = gpu_seconds = 0.0
    unknown = []
    for name, progress in groups.items():
        left = progress.requests_left
        pace = engines.pace(name, models[name]) if models[name] else None
        if left == 0 or not models[name]:
            continue
        if left is None or pace is None:
            unknown.append(name)
            continue
        seconds += left * pace.seconds / pace.answered
        gpu_seconds += left * pace.gpu_seconds / pace.answered
    up = len(engines.running)
    hours = seconds / up / _HOUR_S if up else None
    return Estimate(seconds / _HOUR_S, gpu_seconds / _HOUR_S, hours, tuple(unknown))
