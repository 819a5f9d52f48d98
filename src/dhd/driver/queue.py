"""The queue before one engine: requests wait here in sorted prompt order.

The engine holds no more than it can batch; the rest waits in a heap ordered by prompt text, so
that prompts with a common prefix are asked one after the other. Under memory pressure this keeps
the engine's prefix cache near its ideal.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from dhd.engines.base import Engine
from dhd.errors import EngineError
from dhd.journal import Journal
from dhd.requests import Completion, KeyMaker, ModelIdentity, Request, well_formed

_MAX_CONSECUTIVE_FAILURES = 64
"""Failures in a row, without one answer, after which the engine counts as out of order."""

_QUIET_TURNS = 4
"""Turns of the event loop in which nothing is asked before the queue counts as settled; an
answer needs up to three to pass through a protocol's nested coroutines."""

_ENOUGH_SEEN = 32
"""Answers after which the longest of them says how long a request may take."""

_TRANSIENT_PREFIXES = ("http_", "timeout", "connection", "bad_response", "engine_")


class Stopped(Exception):  # noqa: N818 - a signal to coroutines, not an error of theirs
    """The job was told to stop before this request was asked."""


@dataclass(slots=True)
class _Waiting:
    """One request on its way, with the journals and futures that wait for it."""

    request: Request
    journals: dict[int, Journal] = field(default_factory=dict)
    futures: list[asyncio.Future[Completion]] = field(default_factory=list)


@dataclass(slots=True)
class QueueCounts:
    """What a queue did in this run."""

    asked: int = 0
    found: int = 0
    ok: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0


class EngineQueue:
    """Requests for one engine; the engine starts with the first that no journal holds.

    Parameters
    ----------
    identity
        The model that answers; part of every content key.
    build
        Makes the engine; called once, and only when a request has to be asked.
    seed
        Seed of the study; part of every content key.
    gpus
        GPUs that the engine takes.

    Attributes
    ----------
    begun
        When the engine was started, in seconds since the epoch; None where it was not.
    first_asked
        When the engine was given its first request, on the monotonic clock; None before that.
    longest_s
        Longest time that the engine took for a request.
    """

    def __init__(
        self, identity: ModelIdentity, build: Callable[[], Engine], *, seed: int, gpus: int = 0
    ) -> None:
        self.identity = identity
        self.gpus = gpus
        self.counts = QueueCounts()
        self.begun: float | None = None
        self.first_asked: float | None = None
        self.longest_s = 0.0
        self.on_change: Callable[[], None] = lambda: None
        self.is_filling: Callable[[], bool] = lambda: False
        self.is_too_late: Callable[[], bool] = lambda: False
        self._build = build
        self._keys = KeyMaker(identity, seed)
        self._engine: Engine | None = None
        self._heap: list[tuple[tuple[str, ...], int, str]] = []
        self._order = itertools.count()
        self._waiting: dict[str, _Waiting] = {}
        self._in_flight: dict[str, float] = {}
        self._wake = asyncio.Event()
        self._is_draining = False
        self._failures_in_a_row = 0

    @property
    def outstanding(self) -> int:
        """Return how many requests wait or are in flight."""
        return len(self._waiting)

    @property
    def in_flight(self) -> int:
        """Return how many requests the engine has."""
        return len(self._in_flight)

    @property
    def is_draining(self) -> bool:
        """Return whether nothing new is asked any more."""
        return self._is_draining

    def expected_s(self, unseen_s: float) -> float:
        """Return the time that a request asked now may take: the longest so far.

        Parameters
        ----------
        unseen_s
            What is expected until enough requests have been seen.
        """
        since = next(iter(self._in_flight.values()), None)  # kept in the order of asking
        oldest_s = 0.0 if since is None else time.monotonic() - since
        has_seen = self.counts.ok >= _ENOUGH_SEEN
        return max(self.longest_s, oldest_s, 0.0 if has_seen else unseen_s)

    def key(self, request: Request) -> str:
        """Return the content key of a request to this engine's model."""
        return self._keys.key(request)

    async def ask(self, request: Request, journal: Journal) -> Completion:
        """Return the outcome of a request: from the journal, else from the engine.

        Raises
        ------
        Stopped
            When the job was told to stop and the request was not asked any more.
        """
        key = self.key(request)
        found = journal.find(key)
        if found is not None:
            self.counts.found += 1
            return found
        if key not in self._in_flight and (self._is_draining or self.is_too_late()):
            raise Stopped
        waiting = self._waiting.get(key)
        if waiting is None:
            waiting = self._waiting[key] = _Waiting(request)
            prompt = tuple(turn.content for turn in request.turns)
            heapq.heappush(self._heap, (prompt, next(self._order), key))
            self._wake.set()
        waiting.journals[id(journal)] = journal
        future: asyncio.Future[Completion] = asyncio.get_running_loop().create_future()
        waiting.futures.append(future)
        return await future

    def drain(self) -> None:
        """Ask nothing new; coroutines that wait for unasked requests get `Stopped`."""
        self._is_draining = True
        self._heap.clear()
        for key in [key for key in self._waiting if key not in self._in_flight]:
            for future in self._waiting.pop(key).futures:
                if not future.done():
                    future.set_exception(Stopped())
        self._wake.set()

    async def pump(self) -> None:
        """Feed the engine and deliver what it finishes, until cancelled.

        Raises
        ------
        EngineError
            When the engine cannot start, goes down, or fails many requests in a row.
        """
        while True:
            while not self._heap and not self._in_flight:
                self._wake.clear()
                await self._wake.wait()
            engine = await self._started_engine()
            await self._settle()
            while self._heap and len(self._in_flight) < engine.capacity:
                key = heapq.heappop(self._heap)[2]
                self._in_flight[key] = now = time.monotonic()
                self.first_asked = self.first_asked or now
                self.counts.asked += 1
                engine.submit(key, self._waiting[key].request)
            if self._in_flight:
                self._deliver(await engine.poll())
                self.on_change()

    async def close(self) -> None:
        """Close the engine if it was started, or its start was begun."""
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.close()

    async def _settle(self) -> None:
        """Let coroutines ask all that they can before the engine takes its next batch."""
        quiet = 0
        while quiet < _QUIET_TURNS:
            before = len(self._heap)
            await asyncio.sleep(0)
            is_quiet = len(self._heap) == before and not self.is_filling()
            quiet = quiet + 1 if is_quiet else 0

    async def _started_engine(self) -> Engine:
        if self._engine is None:
            self.begun = time.time()
            self._engine = self._build()
            await self._engine.start()
        return self._engine

    def _deliver(self, completions: list[Completion]) -> None:
        """Journal first, then hand out: what a coroutine has seen is never lost."""
        completions = [well_formed(completion) for completion in completions]
        by_journal: dict[int, tuple[Journal, list[Completion]]] = {}
        for completion in completions:
            for number, journal in self._waiting[completion.key].journals.items():
                by_journal.setdefault(number, (journal, []))[1].append(completion)
        for journal, batch in by_journal.values():
            journal.append(batch)
        now = time.monotonic()
        for completion in completions:
            self._count(completion)
            self.longest_s = max(self.longest_s, now - self._in_flight.pop(completion.key))
            for future in self._waiting.pop(completion.key).futures:
                if not future.done():
                    future.set_result(completion)

    def _count(self, completion: Completion) -> None:
        counts = self.counts
        counts.prompt_tokens += completion.prompt_tokens
        counts.cached_tokens += completion.cached_tokens
        counts.completion_tokens += completion.completion_tokens
        if completion.status == "ok":
            counts.ok += 1
            self._failures_in_a_row = 0
            return
        reason = completion.reason or "unknown"
        counts.failed[reason] += 1
        if reason.startswith(_TRANSIENT_PREFIXES):
            self._failures_in_a_row += 1
        if self._failures_in_a_row >= _MAX_CONSECUTIVE_FAILURES:
            raise EngineError(
                f"{self.identity}: {self._failures_in_a_row} requests in a row failed, the last "
                f"with {reason!r}; mend the engine or endpoint and run again"
            )
