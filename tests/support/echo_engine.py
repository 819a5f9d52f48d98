"""An engine that answers with the question, and sessions that ask it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dhd.driver import (
    EngineQueue,
    Session,
    SessionLimits,
    ShardWork,
)
from dhd.progress import Progress
from dhd.requests import Completion, Decoding, Generate, ModelIdentity, Request, Turn

MODEL = ModelIdentity("echo")


class EchoEngine:
    """Answers with the last turn's text; ``fail`` names the texts that it fails on."""

    identity = MODEL

    def __init__(self, capacity: int = 4, fail: Callable[[str], str | None] = lambda _: None):
        self.capacity = capacity
        self.fail = fail
        self.asked: list[str] = []
        self.most_in_flight = 0
        self.closed = 0
        self._in_flight: list[tuple[str, str]] = []

    async def start(self) -> None:
        pass

    def submit(self, key: str, request: Request) -> None:
        text = request.turns[-1].content
        self.asked.append(text)
        self._in_flight.append((key, text))
        self.most_in_flight = max(self.most_in_flight, len(self._in_flight))

    async def poll(self) -> list[Completion]:
        key, text = self._in_flight.pop(0)
        reason = self.fail(text)
        if reason is not None:
            return [Completion(key, "failed", reason=reason)]
        return [Completion(key, "ok", text=text, answered_by="echo")]

    async def close(self) -> None:
        self.closed += 1


class Steady(EchoEngine):
    """Takes a fifth of a second for every answer."""

    async def poll(self) -> list[Completion]:
        await asyncio.sleep(0.2)
        return await super().poll()


def ask(text: str, draw: str = "") -> Request:
    return Request("integrator", (Turn("user", text),), Decoding(0.0, 8), draw=draw)


def work(folder: Path, name: str, *texts: str) -> ShardWork[str, list[str]]:
    def task(text: str) -> Callable[[Generate], asyncio.Future[str]]:
        async def solve(generate: Generate) -> str:
            return (await generate(ask(text))).text or "nothing"

        return solve  # type: ignore[return-value]

    return ShardWork(name, folder / f"{name}.jsonl", [task(text) for text in texts], list)


def run(
    engine: EchoEngine,
    *shards: ShardWork[str, list[str]],
    max_attempts: int = 3,
    max_outstanding: int = 8,
) -> dict[str, list[str]]:
    queue = EngineQueue(MODEL, lambda: engine, seed=1)
    limits = SessionLimits(max_attempts=max_attempts, max_outstanding=max_outstanding, drain_s=5)
    session: Session[str, list[str]] = Session({"integrator": queue}, limits, Progress("test", 1))
    return session.run(shards)


def limited(
    engine: EchoEngine, shards: list[ShardWork[str, list[str]]], **settings: Any
) -> tuple[dict[str, list[str]], EngineQueue]:
    """Run shards within limits; return the results and the queue."""
    queue = EngineQueue(MODEL, lambda: engine, seed=1, gpus=4)
    options = {name: settings.pop(name) for name in ("peers", "reports") if name in settings}
    session: Session[str, list[str]] = Session(
        {"integrator": queue}, SessionLimits(**settings), Progress("test", 1), **options
    )
    return session.run(shards), queue
