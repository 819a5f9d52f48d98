"""Starting one rank on each node and waiting for them, without ever leaving one behind."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from dhd.config.study import JournalSettings
from dhd.engines.parent import die_with_parent
from dhd.errors import EngineError, IncompleteError
from dhd.ranks.run_folder import RunFolder

_LOOK_EVERY_S = 0.5
_BEAT_EVERY_S = 10.0
_SAY_EVERY_S = 60.0
_CLOSE_S = 90.0
"""Time for workers to release their engines once there is nothing left to do."""


class Launch:
    """The ranks of one run.

    Parameters
    ----------
    launcher
        Words of the command that starts one rank on each node; none for this node alone.
    run
        The run's folder, with everything that ranks read.
    shards
        Shards of the job.
    say
        Reports one event.

    Attributes
    ----------
    finished
        Shards that were noted as finished when the ranks had ended. The journals may hold
        more: a worker can die, or a disk be full, between the last answer and the note.
    """

    def __init__(
        self, launcher: Sequence[str], run: RunFolder, shards: int, say: Callable[[str], None]
    ) -> None:
        self._command = [*launcher, sys.executable, "-m", "dhd.ranks.node", str(run.path)]
        self._run = run
        self._shards = shards
        self._say = say
        self._stopped_by: str | None = None
        self._code: int | None = None
        self._ends: list[str] = []
        self.finished: frozenset[str] = frozenset()

    def wait(self, settings: JournalSettings, deadline: float | None) -> None:
        """Start the ranks and wait until they have ended; kill them when they take too long.

        SIGTERM and SIGINT stop them: they finish what is in flight. What went wrong is said.

        Raises
        ------
        EngineError
            When the launcher cannot be run.
        """
        ends_s = float("inf")
        if deadline is not None:  # workers stop by themselves then; the rest is for writing
            ends_s = deadline - time.time() + time.monotonic() + settings.walltime_margin_s / 2
        with self._heeding_signals():
            process = self._start()
            try:
                self._watch(process, settings, ends_s)
            finally:
                if process.poll() is None:
                    self._kill(process)
            self._code = process.returncode
        self._ends = self._run.bad_ends()
        for end in self._ends:
            self._say(end)
        self.finished = self._run.finished(now=True)

    def _watch(
        self, process: subprocess.Popen[bytes], settings: JournalSettings, ends_s: float
    ) -> None:
        """Return when the ranks have ended, or should have."""
        beat_every_s = min(_BEAT_EVERY_S, settings.stale_after_s / 6)
        beat_s = said_s = time.monotonic()
        done, is_told = len(self._run.finished()), False
        while process.poll() is None:
            time.sleep(_LOOK_EVERY_S)
            now, before, done = time.monotonic(), done, len(self._run.finished())
            if self._stopped_by is not None and not is_told:
                at_most = f"at most {settings.drain_s:.0f} s"
                self._say(f"{self._stopped_by} received: finishing what is in flight, {at_most}")
                self._run.stop()
                is_told, ends_s = True, min(ends_s, now + settings.drain_s + _CLOSE_S)
            if done == self._shards > before:
                ends_s = min(ends_s, now + _CLOSE_S)
            if now > ends_s:
                return
            if now > beat_s + beat_every_s:
                self._run.beat()
                beat_s = now
            if now > said_s + _SAY_EVERY_S:
                self._say(f"{done} of {self._shards} shards finished")
                said_s = now

    def unfinished(self) -> IncompleteError:
        """Return the error of a job whose shards are not all finished: it says what went wrong."""
        why = f"stopped by {self._stopped_by}" if self._stopped_by else "the ranks ended"
        if self._code:
            why += f" with exit code {self._code}"
        faults = f" ({self._ends[0]})" if self._ends else ""
        return IncompleteError(
            f"{why} with {len(self.finished)} of {self._shards} shards finished{faults}; all "
            "finished requests are in the journal: run the same command again"
        )

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(  # noqa: S603 - the site's own launcher, no shell
                self._command, process_group=0, preexec_fn=die_with_parent
            )
        except OSError as error:
            raise EngineError(
                f"the launcher cannot be run ({error}): {shlex.join(self._command)}; correct "
                "'launcher' in the site file"
            ) from error

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        """End the launcher and what it started on this node, first softly."""
        self._run.stop()
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
                return

    @contextmanager
    def _heeding_signals(self) -> Iterator[None]:
        def heed(number: int, _: object) -> None:
            self._stopped_by = self._stopped_by or signal.Signals(number).name

        before = {}
        for number in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(ValueError):  # outside the main thread
                before[number] = signal.signal(number, heed)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
