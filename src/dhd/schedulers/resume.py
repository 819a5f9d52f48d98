"""Continuing a study whose controller is gone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from dhd.config.reading import read_yaml
from dhd.errors import ConfigError, SchedulerError
from dhd.schedulers.base import Scheduler, SchedulerJob, scheduler
from dhd.schedulers.controller import (
    forget_controllers,
    hold_for_resume,
    other_controller,
)
from dhd.sites.load import read_site

_CANCELLED_WITHIN_S = 300.0
_POLL_S = 5.0


def resume(profile: str, arguments: Sequence[str], *, is_gone: bool = False) -> None:
    """Cancel the orphaned jobs of the working directory, unlock it, and run Snakemake again.

    Orphans are cancelled, never adopted: what they have finished is in their journals. On
    success this process becomes Snakemake.

    Parameters
    ----------
    arguments
        Further arguments of Snakemake.
    is_gone
        Whether the Snakemake that was noted is known to be gone, as on a host that is down.

    Raises
    ------
    ConfigError
        When there is no such profile, another Snakemake or `dhd resume` works on this folder,
        or Snakemake refuses to unlock it.
    SchedulerError
        When the orphans cannot be found or cancelled.
    """
    folder = Path.cwd()
    site = profile_site(profile)
    hold_for_resume(folder)
    other = other_controller(folder, trusts_notes=not is_gone)
    if other is not None:
        raise ConfigError(
            f"{folder}: Snakemake seems to run here ({other}); stop it first, or, when it is gone "
            "for sure, add --controller-is-gone"
        )
    forget_controllers(folder)
    if site is not None:
        end_orphans(scheduler(read_site(site, folder).scheduler), folder)
    snakemake = [sys.executable, "-m", "snakemake", "--profile", profile]
    # Our options first: what follows `--` among the arguments would be a target.
    unlocked = subprocess.run([*snakemake, "--unlock", *arguments])  # noqa: S603 - our own command
    if unlocked.returncode != 0:
        raise ConfigError(f"{folder}: snakemake --unlock failed; its message is above")
    sys.stdout.flush()
    # With all orphans gone, outputs marked as incomplete are nobody's: their jobs run again.
    os.execv(sys.executable, [*snakemake, "--rerun-incomplete", *arguments])  # noqa: S606


def profile_site(profile: str) -> str | None:
    """Return the site file that a profile names; None for a profile of one machine.

    Raises
    ------
    ConfigError
        When there is no such profile.
    """
    folder = Path(profile)
    files = sorted(folder.glob("config*.yaml")) if folder.is_dir() else []
    if not files:
        raise ConfigError(
            f"--profile {profile}: no folder with a config.yaml in {Path.cwd()}; run from the root "
            "of the project, e.g. with --profile polaris"
        )
    defaults = read_yaml(files[-1]).get("default-resources") or {}
    named = defaults.get("site") if isinstance(defaults, dict) else None
    return None if named is None else str(named).strip("'\"")


def end_orphans(cluster: Scheduler, folder: Path) -> list[SchedulerJob]:
    """Cancel all jobs that were submitted from a folder and wait until they are gone.

    Returns
    -------
    list of SchedulerJob
        Those that were found.

    Raises
    ------
    SchedulerError
        When the scheduler does not answer, or jobs outlive their cancellation.
    """
    found = cluster.jobs_of_folder(folder)
    left = found
    deadline = time.monotonic() + _CANCELLED_WITHIN_S
    while left:
        names = ", ".join(f"{job.job_id} ({job.state})" for job in left[:5])
        print(f"cancelling {len(left)} job(s) of this folder: {names}", flush=True)
        cluster.cancel(left)
        time.sleep(_POLL_S)
        left = cluster.jobs_of_folder(folder)
        if left and time.monotonic() > deadline:
            raise SchedulerError(
                f"{len(left)} job(s) still there {_CANCELLED_WITHIN_S:.0f} s after their "
                f"cancellation: {names}; cancel them by hand, then run this again"
            )
    return found
