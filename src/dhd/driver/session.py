"""One job's work: problems of many shards, multiplexed over the job's engines.

Problems are independent coroutines. New ones are started whenever fewer requests are
outstanding than the engines can batch, shard after shard, so that an engine has a full batch
until the last shard ends. A shard that another job holds is tried again later.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from dhd.driver.queue import EngineQueue, Stopped
from dhd.errors import IncompleteError
from dhd.journal import Journal, ShardLock
from dhd.progress import Progress
from dhd.requests import Completion, Generate, Request, Role

Result = TypeVar("Result")
Output = TypeVar("Output")

_TICK_S = 0.5
_SYNC_EVERY_S = 2.0
_RETRY_LOCKED_S = 5.0


@dataclass(frozen=True, slots=True)
class ShardWork(Generic[Result, Output]):
    """The work of one shard.

    Attributes
    ----------
    name
        Identifies the shard in results and messages, e.g. ``oss/jeebench/00000-00015``.
    journal
        Path of the shard's journal.
    tasks
        One coroutine function a problem; each gets the ``generate`` that asks for it.
    gather
        Turns the results, in the order of the tasks, into what is kept of the shard.
    earlier
        Journals of other cuts of the same problems.
    """

    name: str
    journal: Path
    tasks: Sequence[Callable[[Generate], Awaitable[Result]]]
    gather: Callable[[list[Result]], Output]
    earlier: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """Limits of a session.

    Attributes
    ----------
    max_attempts
        Runs in which a failed request is asked before it stays failed.
    drain_s
        Time for requests in flight to finish once the job was told to stop.
    stale_after_s
        Age of another host's heartbeat after which its lock is void.
    max_outstanding
        Requests that wait or are in flight before new problems have to wait.
    """

    max_attempts: int = 3
    drain_s: float = 60.0
    stale_after_s: float = 180.0
    max_outstanding: int = 512


@dataclass(slots=True)
class _OpenShard(Generic[Result, Output]):
    """A shard being worked on."""

    work: ShardWork[Result, Output]
    lock: ShardLock
    journal: Journal
    results: dict[int, Result] = field(default_factory=dict)


class Session(Generic[Result, Output]):
    """Runs the coroutines of many shards over the engines of one job.

    Parameters
    ----------
    queues
        The engine queue that answers each role; roles may share one.
    limits
        Retries, times and sizes.
    progress
        Where progress is reported.
    """

    def __init__(
        self, queues: Mapping[Role, EngineQueue], limits: SessionLimits, progress: Progress
    ) -> None:
        self._queues = queues
        self._distinct = list({id(queue): queue for queue in queues.values()}.values())
        self._limits = limits
        self._progress = progress
        self._open_shards: dict[str, _OpenShard[Result, Output]] = {}
        self._outputs: dict[str, Output] = {}
        self._retryable: dict[str, str] = {}
        self._stopped_by: str | None = None
        self._changed = asyncio.Event()
        self._error: BaseException | None = None
        self._is_filling = False

    def run(self, shards: Sequence[ShardWork[Result, Output]]) -> dict[str, Output]:
        """Work all shards off; return what is kept of each by name.

        Raises
        ------
        IncompleteError
            When requests failed that a later run asks again, or the job was told to stop
            (SIGTERM, SIGINT). Everything that finished is in the journals.
        EngineError, JournalError
            When an engine or the disk is out of order.
        """
        return asyncio.run(self._run(shards))

    async def _run(self, shards: Sequence[ShardWork[Result, Output]]) -> dict[str, Output]:
        self._listen_for_signals()
        for queue in self._distinct:
            queue.on_change = self._changed.set
            queue.is_filling = lambda: self._is_filling
        pumps = [asyncio.create_task(queue.pump()) for queue in self._distinct]
        worker = asyncio.create_task(self._work(shards))
        tasks = {worker, asyncio.create_task(self._keep_time()), *pumps}
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for shard in list(self._open_shards.values()):
                self._close(shard)
            for queue in self._distinct:
                await queue.close()
            self._progress.close(self._distinct)
        self._raise_if_incomplete(shards)
        return self._outputs

    def _listen_for_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(ValueError, RuntimeError):  # outside the main thread
                loop.add_signal_handler(number, self._stop, signal.Signals(number).name)

    def _stop(self, reason: str) -> None:
        """Ask nothing new; let what is in flight finish."""
        if self._stopped_by is None:
            self._stopped_by = reason
            self._progress.say(f"{reason} received: finishing what is in flight")
            for queue in self._distinct:
                queue.drain()
            self._changed.set()

    async def _keep_time(self) -> None:
        """Report progress and sync journals; return when a drain takes too long."""
        drain_ends = synced = time.monotonic()
        while self._stopped_by is None or time.monotonic() < drain_ends:
            if self._stopped_by is None:
                drain_ends = time.monotonic() + self._limits.drain_s
            await asyncio.sleep(_TICK_S)
            self._progress.update(self._distinct)
            if time.monotonic() - synced > _SYNC_EVERY_S:
                for shard in self._open_shards.values():
                    shard.lock.check()
                    shard.journal.sync()
                synced = time.monotonic()

    async def _work(self, shards: Sequence[ShardWork[Result, Output]]) -> None:
        """Start problems shard after shard while the engines have room."""
        waiting = deque(shards)
        running: set[asyncio.Task[None]] = set()
        while waiting and self._stopped_by is None:
            self._is_filling = True
            shard = await self._next_free(waiting)
            if shard is None:
                break
            for index in range(len(shard.work.tasks)):
                task = asyncio.create_task(self._solve(shard, index))
                running.add(task)
                task.add_done_callback(running.discard)
                task.add_done_callback(self._note_end)
                await self._room()
            if not shard.work.tasks:
                self._close(shard)
        self._is_filling = False
        while running or any(queue.in_flight for queue in self._distinct):
            await self._change()

    async def _next_free(
        self, waiting: deque[ShardWork[Result, Output]]
    ) -> _OpenShard[Result, Output] | None:
        """Open the first shard that no other job holds, waiting for one if need be."""
        while self._stopped_by is None:
            for _ in range(len(waiting)):
                work = waiting.popleft()
                shard = self._try_open(work)
                if shard is not None:
                    return shard
                waiting.append(work)
            self._progress.say(f"{len(waiting)} shard(s) held by other jobs; waiting for them")
            self._is_filling = False
            await asyncio.sleep(_RETRY_LOCKED_S)
        return None

    def _try_open(self, work: ShardWork[Result, Output]) -> _OpenShard[Result, Output] | None:
        lock = ShardLock(work.journal, stale_after_s=self._limits.stale_after_s)
        if not lock.acquire():
            return None
        try:
            journal = Journal(
                work.journal, earlier=work.earlier, max_attempts=self._limits.max_attempts
            )
        except BaseException:
            lock.release()
            raise
        shard = self._open_shards[work.name] = _OpenShard(work, lock, journal)
        return shard

    def _close(self, shard: _OpenShard[Result, Output]) -> None:
        del self._open_shards[shard.work.name]
        shard.journal.close()
        shard.lock.release()
        if len(shard.results) == len(shard.work.tasks):
            ordered = [shard.results[index] for index in range(len(shard.work.tasks))]
            self._outputs[shard.work.name] = shard.work.gather(ordered)

    async def _room(self) -> None:
        """Let the new problem ask, then wait until there is room for one more."""
        await asyncio.sleep(0)
        while self._stopped_by is None and self._is_full():
            self._is_filling = False
            await self._change()
        self._is_filling = True

    def _is_full(self) -> bool:
        outstanding = sum(queue.outstanding for queue in self._distinct)
        return outstanding >= self._limits.max_outstanding

    async def _change(self) -> None:
        """Wait until requests were answered or a problem ended; raise what a problem raised."""
        await self._changed.wait()
        self._changed.clear()
        if self._error is not None:
            raise self._error

    def _note_end(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and self._error is None:
            self._error = task.exception()
        self._changed.set()

    async def _solve(self, shard: _OpenShard[Result, Output], index: int) -> None:
        async def generate(request: Request) -> Completion:
            completion = await self._queues[request.role].ask(request, shard.journal)
            if shard.journal.is_retryable(completion.key):
                self._retryable[completion.key] = completion.reason or "unknown"
            return completion

        try:
            shard.results[index] = await shard.work.tasks[index](generate)
        except Stopped:
            return
        if len(shard.results) == len(shard.work.tasks):
            self._close(shard)

    def _raise_if_incomplete(self, shards: Sequence[ShardWork[Result, Output]]) -> None:
        if self._stopped_by is not None and len(self._outputs) < len(shards):
            raise IncompleteError(
                f"stopped by {self._stopped_by} with {len(self._outputs)} of {len(shards)} shards "
                "finished; all finished requests are in the journal: run the same command again"
            )
        if self._retryable:
            reasons = ", ".join(
                f"{reason} ×{n}" for reason, n in Counter(self._retryable.values()).most_common()
            )
            raise IncompleteError(
                f"{len(self._retryable)} request(s) failed ({reasons}); run the same command "
                f"again to ask them once more (journal.max_attempts = {self._limits.max_attempts})"
            )
