"""Which shards a session works on: taken one by one, given back when finished or stopped."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic

from dhd.driver.status import ShardStatus, State
from dhd.driver.work import Output, Peers, Reports, Result, SessionLimits, ShardWork
from dhd.journal import Journal, ShardLock, Witness

_TURNS_LEFT = 2
"""A worker holds no more shards than it would get in this many further equal shares of what is
left: many at first, so that its engine is full, and single ones at the end."""


@dataclass(slots=True)
class OpenShard(Generic[Result, Output]):
    """A shard being worked on."""

    work: ShardWork[Result, Output]
    lock: ShardLock
    journal: Journal
    status: ShardStatus | None
    results: dict[int, Result] = field(default_factory=dict)

    @property
    def is_finished(self) -> bool:
        """Return whether every problem has its result."""
        return len(self.results) == len(self.work.tasks)


class ShardDesk(Generic[Result, Output]):
    """Takes shards whose lock is free and gives them back.

    Parameters
    ----------
    shards
        All shards of the session, in the order in which they are tried.
    limits
        Retries and the age of void locks.
    peers
        Other workers that share these shards; None where the session has them for itself.
    reports
        What status files say; None for no such files.
    """

    def __init__(
        self,
        shards: Sequence[ShardWork[Result, Output]],
        limits: SessionLimits,
        peers: Peers | None,
        reports: Reports | None,
    ) -> None:
        self._waiting = deque(shards)
        self._total = len(shards)
        self._limits = limits
        self._peers = peers
        self._reports = reports
        self._finished_by_peers = 0
        self._witness = Witness()
        self.open: dict[str, OpenShard[Result, Output]] = {}
        self.outputs: dict[str, Output] = {}

    @property
    def waiting(self) -> int:
        """Return how many shards are neither open nor finished."""
        return len(self._waiting)

    @property
    def finished(self) -> int:
        """Return how many shards are finished, by this session or a peer."""
        return len(self.outputs) + self._finished_by_peers

    @property
    def is_complete(self) -> bool:
        """Return whether all shards are finished."""
        return self.finished == self._total

    def drop_finished(self) -> None:
        """Forget the waiting shards that peers have finished."""
        if self._peers is None or not self._waiting:
            return
        finished = self._peers.finished()
        left = deque(work for work in self._waiting if work.name not in finished)
        self._finished_by_peers += len(self._waiting) - len(left)
        self._waiting = left

    @property
    def is_greedy(self) -> bool:
        """Return whether one more shard would be more than this worker's share."""
        if self._peers is None:
            return False
        unfinished = len(self._waiting) + len(self.open)
        share = -(-unfinished // (_TURNS_LEFT * self._peers.count))
        return len(self.open) >= max(1, share)

    def take(self) -> OpenShard[Result, Output] | None:
        """Open the first waiting shard that nobody holds; None when all are held."""
        for _ in range(len(self._waiting)):
            work = self._waiting.popleft()
            shard = self._try_open(work)
            if shard is not None:
                return shard
            self._waiting.append(work)
        return None

    def close(self, shard: OpenShard[Result, Output]) -> None:
        """Give a shard back; what it produced is kept when it is finished.

        Raises
        ------
        JournalError
            When the disk refuses what was written; the shard is free nevertheless.
        """
        del self.open[shard.work.name]
        try:
            shard.journal.close()
            if shard.status is not None:
                state: State = "done" if shard.is_finished else "stopped"
                shard.status.update(state, len(shard.results), now=True)
            if shard.is_finished:
                ordered = [shard.results[index] for index in range(len(shard.work.tasks))]
                self.outputs[shard.work.name] = shard.work.gather(ordered)
                if self._peers is not None:
                    self._peers.finish(shard.work.name)
        finally:
            shard.lock.release()

    def keep(self) -> None:
        """Force journals to the disk, see that the locks still hold, and renew status files.

        Raises
        ------
        JournalError
            When another job took a shard over, or the disk is out of order.
        """
        for shard in self.open.values():
            shard.lock.check()
            shard.journal.sync()
            if shard.status is not None:
                shard.status.update("running", len(shard.results))

    def _try_open(self, work: ShardWork[Result, Output]) -> OpenShard[Result, Output] | None:
        lock = ShardLock(
            work.journal, stale_after_s=self._limits.stale_after_s, witness=self._witness
        )
        if not lock.acquire():
            return None
        if self._peers is not None and self._peers.has_finished(work.name):
            lock.release()  # while we looked at others; the next `drop_finished` counts it
            return None
        try:
            journal = Journal(
                work.journal,
                earlier=work.earlier,
                max_attempts=self._limits.max_attempts,
                guard=lock.check,
            )
        except BaseException:
            lock.release()
            raise
        status = None
        if self._reports is not None:
            status = ShardStatus(journal, len(work.tasks), work.expected, self._reports)
            status.update("running", 0, now=True)
        shard = OpenShard(work, lock, journal, status)
        self.open[work.name] = shard
        return shard
