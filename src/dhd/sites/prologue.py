"""The shell lines with which every job of a site starts."""

from __future__ import annotations

import shlex

from dhd.files import current_umask
from dhd.sites.site import Site


def prologue(site: Site) -> str:
    """Return the lines: umask of the user, start of the job, variables, the site's set-up."""
    return "\n".join(
        [
            umask_line(),
            "export DHD_JOB_START=$(date +%s)",
            *(f"export {name}={shlex.quote(value)}" for name, value in site.environment.items()),
            *site.setup,
        ]
    )


def umask_line() -> str:
    """Return the line that gives a job's files the modes that the user's have."""
    return f"umask {current_umask():04o}"
