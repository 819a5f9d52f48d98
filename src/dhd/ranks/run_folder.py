"""The folder in which the processes of one run of a job meet.

They may be on different nodes and share nothing but a file system. Nothing in it is needed
afterwards: what was answered is in the journals.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dhd.files import replacing
from dhd.journal import Witness

_LOOK_EVERY_S = 1.0
_LEFT_AFTER = 10
"""Times a heartbeat's limit after which a run's folder is removed by the next run."""


class RunFolder:
    """Files of one run: who is there, what is finished, whether to stop.

    Parameters
    ----------
    path
        The folder.
    workers
        Workers of the run; what `Peers` calls ``count``.
    """

    def __init__(self, path: Path, workers: int = 1) -> None:
        self.path = path
        self.count = workers
        self._seen: frozenset[str] = frozenset()
        self._seen_s = float("-inf")
        self._witness = Witness()

    @classmethod
    @contextmanager
    def new(cls, parent: Path, workers: int, stale_after_s: float) -> Iterator[RunFolder]:
        """Make the folder of a new run, for as long as the block lasts.

        Folders of runs whose leader was killed are removed; those of live ones stay: they may
        be a job of the same bundle that the scheduler has not ended yet.
        """
        for old in parent.glob("*"):
            if RunFolder(old)._is_left(stale_after_s):
                shutil.rmtree(old, ignore_errors=True)
        run = cls(parent / uuid.uuid4().hex[:12], workers)
        for name in ("finished", "ranks", "ended"):
            (run.path / name).mkdir(parents=True)
        run.beat()
        try:
            yield run
        finally:
            shutil.rmtree(run.path, ignore_errors=True)

    def finished(self, *, now: bool = False) -> frozenset[str]:
        """Return the shards that a worker finished, as of at most a second ago or as of now."""
        time_s = time.monotonic()
        if now or time_s >= self._seen_s + _LOOK_EVERY_S:
            with contextlib.suppress(FileNotFoundError):
                names = (path.name for path in (self.path / "finished").iterdir())
                self._seen, self._seen_s = frozenset(names), time_s
        return self._seen

    def has_finished(self, name: str) -> bool:
        """Return whether a shard is finished, as of now."""
        return (self.path / "finished" / name).exists()

    def finish(self, name: str) -> None:
        """Note that a shard is finished; quietly not when the run is over."""
        with contextlib.suppress(FileNotFoundError):
            (self.path / "finished" / name).touch()

    def claim_rank(self) -> int:
        """Return the smallest rank that no other node has."""
        rank = 0
        while True:
            try:
                (self.path / "ranks" / str(rank)).touch(exist_ok=False)
            except FileExistsError:
                rank += 1
            else:
                return rank

    def stop(self) -> None:
        """Tell all ranks to stop."""
        with contextlib.suppress(OSError):  # where that fails their leader's end tells them
            (self.path / "stop").touch()

    @property
    def is_stopped(self) -> bool:
        """Return whether all ranks were told to stop."""
        return (self.path / "stop").exists()

    def beat(self) -> None:
        """Show that the leader lives."""
        with contextlib.suppress(OSError):  # a late beat is made up by the next
            (self.path / "leader").touch()

    def leader_is_gone(self, stale_after_s: float) -> bool:
        """Return whether the leader has not been heard of for so long.

        Its beats are timed by this process's clock: those of nodes may differ.
        """
        leader = self.path / "leader"
        with contextlib.suppress(OSError):
            if leader.exists():
                return self._witness.quiet_s(leader) > stale_after_s
        return not self.path.exists()

    def _is_left(self, stale_after_s: float) -> bool:
        """Return whether nobody has worked here for so long that clocks cannot be the reason."""
        try:
            newest = max(path.stat().st_mtime for path in (self.path, *self.path.glob("leader")))
        except OSError:
            return False
        return time.time() - newest > _LEFT_AFTER * stale_after_s

    def must_stop(self, stale_after_s: float) -> bool:
        """Return whether a rank has to stop: it was told to, or nobody leads it any more."""
        return self.is_stopped or self.leader_is_gone(stale_after_s)

    def note_end(self, worker: str, how: str) -> None:
        """Note for the leader how a worker ended that did not end well."""
        with contextlib.suppress(OSError):  # a full disk may be what it is about
            (self.path / "ended" / worker).write_text(how, encoding="utf-8")

    def has_ended(self, worker: str) -> bool:
        """Return whether it is noted how a worker ended."""
        return (self.path / "ended" / worker).exists()

    def bad_ends(self) -> list[str]:
        """Return how workers ended that did not end well, in the order of their names."""
        paths = sorted((self.path / "ended").iterdir())
        return [path.read_text("utf-8", errors="replace") for path in paths]

    def write(self, name: str, content: bytes) -> Path:
        """Write one of the run's files; return its path."""
        path = self.path / name
        with replacing(path) as temporary:
            temporary.write_bytes(content)
        return path

    def read_json(self, name: str) -> Any:
        """Return the content of one of the run's JSON files."""
        return json.loads((self.path / name).read_bytes())
