"""The interface that every engine has."""

from __future__ import annotations

from typing import Protocol

from dhd.requests import Completion, ModelIdentity, Request


class Engine(Protocol):
    """Answers requests, many at a time.

    The driver calls ``start`` once, before the first ``submit`` and only when some request is
    not in the journal. It then keeps up to ``capacity`` requests submitted and calls ``poll``
    until all are answered. Every submitted key comes back from ``poll`` exactly once, as a
    completion with status ``ok`` or ``failed``: an engine never raises for a single request,
    and raises ``EngineError`` only when it cannot go on at all.
    """

    identity: ModelIdentity

    @property
    def capacity(self) -> int:
        """Return how many requests may be submitted and unanswered at a time."""

    async def start(self) -> None:
        """Load the model or open connections; raise ``EngineError`` with what would be right."""

    def submit(self, key: str, request: Request) -> None:
        """Take a request; its seed is ``seed_of(key)``."""

    async def poll(self) -> list[Completion]:
        """Advance and return what has finished since the last call; waits for some progress."""

    async def close(self) -> None:
        """Release everything, child processes included; safe to call twice.

        It is also called when ``start`` failed or was broken off.
        """
