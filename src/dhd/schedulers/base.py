"""What all schedulers offer."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, cast


@dataclass(frozen=True, slots=True)
class SchedulerJob:
    """A job that is queued or running."""

    job_id: str
    name: str
    state: Literal["queued", "running"]


class Scheduler(Protocol):
    """A scheduler's module: `dhd.schedulers.pbs` or `dhd.schedulers.slurm`."""

    def jobs_of_folder(self, folder: Path) -> list[SchedulerJob]:
        """Return the jobs that this project has submitted from a folder.

        Raises
        ------
        SchedulerError
            When the scheduler does not answer.
        """
        ...

    def cancel(self, jobs: Sequence[SchedulerJob]) -> None:
        """Ask for the end of these jobs; those that have ended meanwhile are fine.

        Raises
        ------
        SchedulerError
            When the scheduler refuses.
        """
        ...


def scheduler(name: str) -> Scheduler:
    """Return the scheduler of a site file's ``scheduler``."""
    return cast("Scheduler", importlib.import_module(f"dhd.schedulers.{name}"))
