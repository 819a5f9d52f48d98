"""What all schedulers offer."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, cast

if TYPE_CHECKING:
    from dhd.sites.site import Site


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


def prepare(site: Site, folder: Path) -> tuple[Site, list[str]]:
    """Check whether jobs can be submitted from a working directory; writes nothing.

    Returns
    -------
    Site
        The same, with what its scheduler says of its queues where no file does.
    list of str
        Warnings.

    Raises
    ------
    ConfigError
        When the site file asks for what its scheduler cannot do.
    """
    if site.scheduler == "slurm":
        from dhd.schedulers import slurm

        return slurm.prepare(site)
    from dhd.schedulers import pbs

    return pbs.prepare(site, folder)


def write_notes(site: Site, folder: Path) -> None:
    """Write down what jobs and their submission need of a prepared site.

    When a run starts and not before: a dry run must not change what running jobs read.
    """
    if site.scheduler == "slurm":
        from dhd.schedulers import slurm

        slurm.write_notes(site, folder)
    else:
        from dhd.schedulers import pbs

        pbs.write_notes(site, folder)


def noted(site: Site, folder: Path) -> Site:
    """Return a site, in one of its jobs, as the controller had prepared it.

    So that a job has the size, in its own eyes, with which it was submitted.

    Raises
    ------
    SchedulerError
        When no controller has written down anything.
    """
    if site.scheduler == "slurm":
        from dhd.schedulers import slurm

        return slurm.noted(site, folder)
    return site
