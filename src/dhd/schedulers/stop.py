"""Stopping a run on one machine: SIGTERM and SIGINT to Snakemake reach its running jobs.

Snakemake itself only stops starting jobs at SIGTERM, and waits for those that run, however long
they take. Its first SIGINT ends it with its jobs, a second one within its own clean-up.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from dhd.schedulers.controller import parent_of

_SHELLS = frozenset({"bash", "sh", "dash"})
_LOOK_EVERY_S = 1.0


class Stop:
    """Stops the jobs of this process once it is told to stop.

    Attributes
    ----------
    reason
        Name of the first signal; None before it.
    """

    def __init__(self, say: Callable[[str], object], drain_s: float) -> None:
        self.reason: str | None = None
        self._say = say
        self._drain_s = drain_s
        self._no_more_jobs: Any = None

    def listen(self) -> None:
        """Take over both signals; what SIGTERM did before, it does still, and SIGINT does too."""
        self._no_more_jobs = signal.getsignal(signal.SIGTERM)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._heed)

    def _heed(self, number: int, frame: object) -> None:
        """Leave the work to a thread: the main one may hold locks that it needs."""
        task = self._stop if self.reason is None else self._say_again
        self.reason = self.reason or signal.Signals(number).name
        threading.Thread(target=task, daemon=True).start()

    def _say_again(self) -> None:
        self._say(f"Already stopping: at most {self._drain_s:.0f} s from the first signal on")

    def _stop(self) -> None:
        """Start no more jobs and pass SIGTERM on, once to each; one may be about to start."""
        self._say(
            f"{self.reason}: nothing new is asked; requests in flight finish, for at most "
            f"{self._drain_s:.0f} s"
        )
        if callable(self._no_more_jobs):
            self._no_more_jobs()
        told = set[int]()
        while True:
            for job in set(_jobs_of(os.getpid())) - told:
                told.add(job)
                with suppress(ProcessLookupError):
                    os.kill(job, signal.SIGTERM)
            time.sleep(_LOOK_EVERY_S)


def _jobs_of(parent: int) -> Iterator[int]:
    """Yield the processes of rule scripts below a process: Python's, below a shell or not.

    What a script has started itself, such as an engine, is its own to stop.
    """
    for child in _children(parent):
        try:
            name = Path("/proc", str(child), "comm").read_text().strip()
        except OSError:
            continue
        if name in _SHELLS:
            yield from _jobs_of(child)
        elif name.startswith("python"):
            yield child


def _children(parent: int) -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if parent_of(process) == parent:
                found.append(int(process.name))
    return found
