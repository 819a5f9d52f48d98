"""One writer a shard: schedulers do resubmit jobs that still run.

``flock`` excludes writers on one host and, on most parallel file systems, on all. Where
``flock`` is local to the node, or missing, an owner file with a heartbeat stands in for it.
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
from dhd.files import NO_FLOCK

#: Heartbeats in a row at which the owner file cannot be read before it counts as taken away.
_MISSES = 3

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


class Witness:
    """How long heartbeats have not changed, by this process's clock: those of hosts may differ."""

    def __init__(self) -> None:
        self._seen: dict[Path, tuple[int, float]] = {}

    def quiet_s(self, path: Path) -> float:
        """Return for how many seconds a file was seen not to be touched; 0 at first sight."""
        try:
            beat_ns = path.stat().st_mtime_ns
        except FileNotFoundError:
            return 0.0
        known_ns, since_s = self._seen.get(path, (None, 0.0))
        if beat_ns != known_ns:
            since_s = time.monotonic()
            self._seen[path] = (beat_ns, since_s)
        return time.monotonic() - since_s


class ShardLock:
    """The right to write one journal.

    Parameters
    ----------
    journal
        Path of the journal; the lock and owner files lie beside it.
    stale_after_s
        Age of another host's heartbeat after which its owner counts as dead.
    witness
        What this process saw of heartbeats before; None where it looks for the first time.
    """

    def __init__(
        self, journal: Path, *, stale_after_s: float = 180.0, witness: Witness | None = None
    ) -> None:
        self._lock_path = journal.with_suffix(".lock")
        self._owner_path = journal.with_suffix(".owner")
        self._stale_after_s = stale_after_s
        self._witness = witness or Witness()
        self._owner = Owner.this_process()
        self._file: int | None = None
        self._stop = threading.Event()
        self._beats: threading.Thread | None = None
        self._lost = False
        self._is_flocked = False
        self._confirmed_s = 0.0

    def acquire(self) -> bool:
        """Take the shard; return False when another live job has it."""
        self._lock_path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self._lock_path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._is_flocked = True
        except BlockingIOError:
            self._close()
            return False
        except OSError as error:
            if error.errno not in NO_FLOCK:
                raise
        is_mine = False
        try:
            is_mine = self._claim()
        finally:
            if not is_mine:
                self._close()
        if not is_mine:
            return False
        self._confirmed_s = time.time()
        self._beats = threading.Thread(target=self._beat, daemon=True, name="shard-heartbeat")
        self._beats.start()
        return True

    def check(self) -> None:
        """Raise when another job took the shard over; to be asked before every write.

        The owner file is read only when the heartbeat is late: it is nobody else's before.

        Raises
        ------
        JournalError
            After a pause longer than the heartbeat's limit, e.g. of a suspended job.
        """
        if abs(time.time() - self._confirmed_s) >= self._stale_after_s / 2:
            if read_owner(self._owner_path) == self._owner:
                self._touch()
            else:
                self._lost = True
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
            if read_owner(self._owner_path) == self._owner:
                self._owner_path.unlink(missing_ok=True)
            self._close()

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _claim(self) -> bool:
        """Become the owner, unless there is one who may be alive.

        Hosts whose ``flock`` does not exclude each other may do this at the same time. The
        first owner's file is linked into place, which never replaces another's.
        """
        rival, is_there = read_owner(self._owner_path), self._owner_path.exists()
        if is_there and not self._is_dead(rival):
            return False
        mine = self._beside(self._owner.token)
        document = {name: getattr(self._owner, name) for name in Owner.__slots__}
        try:
            mine.write_text(json.dumps(document), encoding="utf-8")
            if is_there:
                return self._inherit(rival, mine)
            os.link(mine, self._owner_path)
        except FileExistsError:
            return False
        finally:
            mine.unlink(missing_ok=True)
        return read_owner(self._owner_path) == self._owner

    def _inherit(self, rival: Owner | None, mine: Path) -> bool:
        """Replace the file of a dead owner, as the only one who may: every owner has one heir."""
        heir = self._beside(f"{'unreadable' if rival is None else rival.token}.heir")
        if _age_s(heir) >= self._stale_after_s:  # one who died in the middle of this
            heir.unlink(missing_ok=True)
        os.link(mine, heir)
        try:
            if read_owner(self._owner_path) != rival:  # it has had its heir
                return False
            mine.replace(self._owner_path)
        finally:
            heir.unlink(missing_ok=True)
        return read_owner(self._owner_path) == self._owner

    def _beside(self, suffix: str) -> Path:
        return self._owner_path.with_name(f".{self._owner_path.name}.{suffix}")

    def _is_dead(self, rival: Owner | None) -> bool:
        """Return whether an owner is certainly gone: on this host, or without heartbeat.

        That a process with the owner's number runs says little: numbers are given anew.
        """
        if (
            rival is not None
            and rival.host == self._owner.host
            and (self._is_flocked or not Path(f"/proc/{rival.pid}").exists())
        ):
            return True
        age_s = _age_s(self._owner_path, missing=float("inf"))
        # A clock that was ahead leaves a beat that would be fresh for long.
        return max(age_s, self._witness.quiet_s(self._owner_path)) >= self._stale_after_s

    def _beat(self) -> None:
        misses = 0
        while not self._stop.wait(self._stale_after_s / 6):
            found = read_owner(self._owner_path)
            misses = misses + 1 if found is None else 0
            if found not in (None, self._owner) or misses >= _MISSES:
                self._lost = True
                return
            if found is not None:
                self._touch()

    def _touch(self) -> None:
        """Show that the owner lives."""
        with contextlib.suppress(OSError):  # a late beat is made up by the next
            os.utime(self._owner_path)
            self._confirmed_s = time.time()


def forget_dead_owner(journal: Path, pid: int) -> None:
    """Free a shard whose owner was a process of this host that has ended.

    Other hosts need not wait then until its heartbeat is stale.
    """
    path = journal.with_suffix(".owner")
    owner = read_owner(path)
    if owner is not None and (owner.host, owner.pid) == (socket.gethostname(), pid):
        path.unlink(missing_ok=True)


def read_owner(path: Path) -> Owner | None:
    """Return who an owner file names; None where there is none or it cannot be read."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return Owner(**document)
    except (OSError, ValueError, TypeError):
        return None


def _age_s(path: Path, *, missing: float = 0.0) -> float:
    """Return how long ago a file was touched, in seconds; ``missing`` where there is none."""
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return missing
