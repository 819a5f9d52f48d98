"""One writer a shard: schedulers do resubmit jobs that still run.

``flock`` excludes writers on one host and, on most parallel file systems, on all. Where
``flock`` is local to the node an owner file with a heartbeat stands in for it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import threading
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from dhd.errors import JournalError

_JOB_VARIABLES = ("SLURM_JOB_ID", "PBS_JOBID")


@dataclass(frozen=True, slots=True)
class Owner:
    """Who writes a shard: host, process, scheduler job and a token of its own."""

    host: str
    pid: int
    job: str
    token: str

    @classmethod
    def this_process(cls) -> Owner:
        """Return the owner that this process is."""
        job = next((os.environ[name] for name in _JOB_VARIABLES if name in os.environ), "")
        return cls(socket.gethostname(), os.getpid(), job, uuid.uuid4().hex)


class ShardLock:
    """The right to write one journal.

    Parameters
    ----------
    journal
        Path of the journal; the lock and owner files lie beside it.
    stale_after_s
        Age of another host's heartbeat after which its owner counts as dead.
    """

    def __init__(self, journal: Path, *, stale_after_s: float = 180.0) -> None:
        self._lock_path = journal.with_suffix(".lock")
        self._owner_path = journal.with_suffix(".owner")
        self._stale_after_s = stale_after_s
        self._owner = Owner.this_process()
        self._file: int | None = None
        self._stop = threading.Event()
        self._beats: threading.Thread | None = None
        self._lost = False

    def acquire(self) -> bool:
        """Take the shard; return False when another live job has it."""
        self._lock_path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self._lock_path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._close()
            return False
        if not self._claim():
            self._close()
            return False
        self._beats = threading.Thread(target=self._beat, daemon=True, name="shard-heartbeat")
        self._beats.start()
        return True

    def check(self) -> None:
        """Raise when another job took the shard over.

        Raises
        ------
        JournalError
            After a pause longer than the heartbeat's limit, e.g. of a suspended job.
        """
        if self._lost:
            raise JournalError(
                f"{self._owner_path}: another job took this shard over; this one stops writing"
            )

    def release(self) -> None:
        """Give the shard back; safe to call twice."""
        self._stop.set()
        if self._beats is not None:
            self._beats.join()
            self._beats = None
        if self._file is not None:
            if not self._lost:
                self._owner_path.unlink(missing_ok=True)
            self._close()

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _claim(self) -> bool:
        """Become the owner; flock is held, so rivals can only be on other hosts."""
        rival = self._read_owner()
        if rival is not None and rival.host != self._owner.host:
            age_s = time.time() - self._owner_path.stat().st_mtime
            if age_s < self._stale_after_s:
                return False
        self._owner_path.unlink(missing_ok=True)
        try:
            file = os.open(self._owner_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            return False
        with os.fdopen(file, "w", encoding="utf-8") as stream:
            json.dump({name: getattr(self._owner, name) for name in Owner.__slots__}, stream)
        return self._read_owner() == self._owner

    def _read_owner(self) -> Owner | None:
        try:
            document = json.loads(self._owner_path.read_text(encoding="utf-8"))
            return Owner(**document)
        except (OSError, ValueError, TypeError):
            return None

    def _beat(self) -> None:
        while not self._stop.wait(self._stale_after_s / 6):
            if self._read_owner() != self._owner:
                self._lost = True
                return
            with contextlib.suppress(OSError):  # a late beat is made up by the next
                os.utime(self._owner_path)
