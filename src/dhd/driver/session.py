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
from collections.abc import Iterable, Mapping, Sequence
from typing import Generic

from dhd.driver.queue import EngineQueue, Stopped
from dhd.driver.shards import OpenShard, ShardDesk
from dhd.driver.status import EngineStatus
from dhd.driver.work import (
    Output,
    Peers,
    Reports,
    Result,
    SessionLimits,
    ShardWork,
    raise_if_retryable,
)
from dhd.errors import IncompleteError
from dhd.progress import Progress
from dhd.requests import Completion, Request, Role
from dhd.wording import number_of

_TICK_S = 0.5
_SYNC_EVERY_S = 2.0
_RETRY_LOCKED_S = 2.0
_SAY_LOCKED_EVERY_S = 60.0


class Session(Generic[Result, Output]):
    """Runs the coroutines of many shards over the engines of one process.

    Parameters
    ----------
    queues
        The engine queue that answers each role; roles may share one.
    limits
        Retries, times and sizes.
    progress
        Where progress is reported.
    peers
        The workers that share the shards; None where this process works alone.
    reports
        What status files say; None for no such files.
    """

    def __init__(
        self,
        queues: Mapping[Role, EngineQueue],
        limits: SessionLimits,
        progress: Progress,
        *,
        peers: Peers | None = None,
        reports: Reports | None = None,
    ) -> None:
        self._queues = queues
        self._distinct = list(dict.fromkeys(queues.values()))
        self._limits = limits
        self._progress = progress
        self._peers = peers
        self._reports = reports
        self._desk: ShardDesk[Result, Output] = ShardDesk((), limits, peers, reports)
        self._retryable: dict[str, str] = {}
        self._stopped_by: str | None = None
        self._drain_ends = float("inf")
        self._changed = asyncio.Event()
        self._error: BaseException | None = None
        self._is_filling = False

    def run(self, shards: Sequence[ShardWork[Result, Output]]) -> dict[str, Output]:
        """Work all shards off; return what is kept of each by name.

        Shards that a peer finished are not among what is returned.

        Raises
        ------
        IncompleteError
            When requests failed that a later run asks again, or the job was told to stop
            (SIGTERM, SIGINT) or runs out of walltime. Everything that finished is in the
            journals.
        EngineError, JournalError
            When an engine or the disk is out of order.
        """
        self._desk = ShardDesk(shards, self._limits, self._peers, self._reports)
        return asyncio.run(self._run(len(shards)))

    async def _run(self, shards: int) -> dict[str, Output]:
        self._listen_for_signals()
        for queue in self._distinct:
            queue.on_change = self._changed.set
            queue.is_filling = lambda: self._is_filling
            queue.is_too_late = self._is_too_late
        pumps = [asyncio.create_task(queue.pump()) for queue in self._distinct]
        worker = asyncio.create_task(self._work())
        tasks = {worker, asyncio.create_task(self._keep_time()), *pumps}
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            await self._end(tasks)
        self._raise_if_incomplete(shards)
        return self._desk.outputs

    async def _end(self, tasks: Iterable[asyncio.Task[None]]) -> None:
        """Stop all tasks, then give back shards and engines, each whatever becomes of others."""
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        async with contextlib.AsyncExitStack() as ending:  # the last one first
            ending.callback(self._progress.close, self._distinct)
            for queue in self._distinct:
                ending.push_async_callback(queue.close)
            for shard in self._desk.open.values():
                ending.callback(self._desk.close, shard)

    def _listen_for_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(ValueError, RuntimeError):  # outside the main thread
                loop.add_signal_handler(number, self._heed, signal.Signals(number).name)

    def _heed(self, name: str) -> None:
        """Stop at a signal; a job that is already stopping gets no more time than that."""
        self._stop(name, f"{name} received", self._limits.drain_s)

    def _stop(self, reason: str, what: str, drain_s: float) -> None:
        """Ask nothing new; let what is in flight finish."""
        left_s = drain_s
        if self._limits.deadline is not None:
            left_s = min(drain_s, max(self._limits.deadline - time.time(), 0.0))
        self._drain_ends = min(self._drain_ends, time.monotonic() + left_s)
        if self._stopped_by is None:
            self._stopped_by = reason
            for queue in self._distinct:
                queue.drain()
            self._progress.say_stop(what, self._distinct, left_s)
            self._changed.set()

    def _is_too_late(self) -> bool:
        """Return whether a request asked now might not be answered within the walltime; stop then.

        This is asked before every request and while any is outstanding: a job that finds
        everything in its journals needs no time and is let through.
        """
        if self._limits.deadline is None or self._stopped_by is not None:
            return self._stopped_by is not None
        left_s = self._limits.deadline - time.time()
        unseen_s = self._limits.longest_request_s
        expected_s = max(queue.expected_s(unseen_s) for queue in self._distinct)
        if left_s >= expected_s:
            return False
        what = f"{max(left_s, 0):.0f} s of walltime left, a request may take {expected_s:.0f} s"
        self._stop("the end of its walltime", what, left_s)
        return True

    def _watch_walltime(self) -> None:
        is_over = time.time() >= (self._limits.deadline or float("inf"))
        if is_over or any(queue.outstanding for queue in self._distinct):
            self._is_too_late()

    async def _keep_time(self) -> None:
        """Report, sync journals and watch the time; return when a drain takes too long."""
        reports = self._reports
        engines = [EngineStatus(one, reports) for one in self._distinct if reports is not None]
        synced = time.monotonic()
        try:
            while time.monotonic() < self._drain_ends:
                await asyncio.sleep(min(_TICK_S, max(self._drain_ends - time.monotonic(), 0)))
                self._watch_walltime()
                self._progress.update(self._distinct)
                for engine in engines:
                    engine.update()
                if time.monotonic() - synced > _SYNC_EVERY_S:
                    self._desk.keep()
                    synced = time.monotonic()
        finally:
            for engine in engines:
                engine.update(is_ended=True)

    async def _work(self) -> None:
        """Start problems shard after shard while the engines have room."""
        running: set[asyncio.Task[None]] = set()
        while self._stopped_by is None:
            self._is_filling = True
            shard = await self._next_free()
            if shard is None:
                break
            for index in range(len(shard.work.tasks)):
                task = asyncio.create_task(self._solve(shard, index))
                running.add(task)
                task.add_done_callback(running.discard)
                task.add_done_callback(self._note_end)
                await self._room()
            if not shard.work.tasks:
                self._desk.close(shard)
        self._is_filling = False
        while running or any(queue.in_flight for queue in self._distinct):
            await self._change()

    async def _next_free(self) -> OpenShard[Result, Output] | None:
        """Open the first shard that is free, waiting for one if need be; None at the end."""
        say_next = 0.0
        while self._stopped_by is None:
            self._desk.drop_finished()
            if not self._desk.waiting:
                break
            if not self._desk.is_greedy:
                shard = self._desk.take()
                if shard is not None:
                    return shard
                if time.monotonic() >= say_next:
                    say_next = time.monotonic() + _SAY_LOCKED_EVERY_S
                    held = self._desk.waiting
                    self._progress.say(f"waiting for {number_of(held, 'shard')} of other jobs")
            self._is_filling = False
            await self._pause()
        return None

    async def _pause(self) -> None:
        """Wait for a while, or until one of this session's shards ends."""
        opened, until = len(self._desk.open), time.monotonic() + _RETRY_LOCKED_S
        while self._stopped_by is None and len(self._desk.open) == opened:
            left_s = until - time.monotonic()
            if left_s <= 0:
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._change(), left_s)

    async def _room(self) -> None:
        """Let the new problem ask, then wait until there is room for one more."""
        await asyncio.sleep(0)
        while self._stopped_by is None and self._is_full():
            self._is_filling = False
            await self._change()
        self._is_filling = True

    def _is_full(self) -> bool:
        return sum(one.outstanding for one in self._distinct) >= self._limits.max_outstanding

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

    async def _solve(self, shard: OpenShard[Result, Output], index: int) -> None:
        async def generate(request: Request) -> Completion:
            completion = await self._queues[request.role].ask(request, shard.journal)
            if shard.journal.is_retryable(completion.key):
                self._retryable[completion.key] = completion.reason or "unknown"
            return completion

        try:
            shard.results[index] = await shard.work.tasks[index](generate)
        except Stopped:
            return
        if shard.is_finished:
            self._desk.close(shard)

    def _raise_if_incomplete(self, shards: int) -> None:
        if self._stopped_by is not None and not self._desk.is_complete:
            raise IncompleteError(
                f"stopped by {self._stopped_by} with {self._desk.finished} of {shards} shards "
                "finished; all finished requests are in the journal: run the same command again"
            )
        raise_if_retryable(self._retryable, self._limits.max_attempts)
