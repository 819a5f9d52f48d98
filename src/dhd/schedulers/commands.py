"""Running a scheduler's commands."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from dhd.errors import SchedulerError

TIMEOUT_S = 120


def ask(
    command: Sequence[str], *, text: str | None = None, timeout_s: float = TIMEOUT_S
) -> subprocess.CompletedProcess[str]:
    """Run a command of the scheduler to its end, whatever its exit code; ``text`` is its input.

    Raises
    ------
    SchedulerError
        When there is no such command, or it does not come back.
    """
    try:
        return subprocess.run(  # noqa: S603 - our own command, no shell
            list(command),
            input=text,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout_s,
        )
    except FileNotFoundError:
        raise SchedulerError(
            f"{command[0]}: no such command; run on a node that can submit jobs"
        ) from None
    except subprocess.TimeoutExpired:
        raise SchedulerError(f"{command[0]}: no answer in {timeout_s:.0f} s") from None
