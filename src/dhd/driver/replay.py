"""Shards from their journals alone: no engine, no lock, nothing asked.

The process that leads a job's workers does this twice: before it starts them, to see what is
left, and after they have ended, to write what they made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic

from dhd.driver.elsewhere import JournalQueue
from dhd.driver.queue import EngineQueue, Stopped
from dhd.driver.work import Output, Result, ShardWork
from dhd.journal import Journal
from dhd.requests import Completion, Generate, Request, Role


@dataclass(slots=True)
class Replayed(Generic[Output]):
    """What journals hold of some shards.

    Attributes
    ----------
    outputs
        What is kept of each shard that is complete, by name.
    retryable
        Why requests of complete shards failed that a later run asks again, by key.
    """

    outputs: dict[str, Output] = field(default_factory=dict)
    retryable: dict[str, str] = field(default_factory=dict)


def replay_shards(
    work: Sequence[ShardWork[Result, Output]],
    queues: Mapping[Role, EngineQueue],
    *,
    max_attempts: int,
    accept_failed: bool,
) -> Replayed[Output]:
    """Work shards off as far as their journals go.

    Parameters
    ----------
    queues
        Give the content keys of each role's requests; their engines are not started.
    max_attempts
        Runs in which a failed request is asked before it stays failed.
    accept_failed
        Whether a request that failed, and that a later run asks again, counts as finished.
    """
    replayed: Replayed[Output] = Replayed()
    for one in work:
        journal = Journal(one.journal, earlier=one.earlier, max_attempts=max_attempts)
        retryable: dict[str, str] = {}
        generate = _reader(queues, journal, retryable if accept_failed else None)
        results = asyncio.run(_results(one, generate))
        if len(results) == len(one.tasks):
            replayed.outputs[one.name] = one.gather(results)
            replayed.retryable |= retryable
    return replayed


def _reader(
    queues: Mapping[Role, EngineQueue], journal: Journal, retryable: dict[str, str] | None
) -> Generate:
    """Return a ``generate`` that reads one journal; it notes failures in ``retryable``."""

    async def generate(request: Request) -> Completion:
        queue = queues[request.role]
        if isinstance(queue, JournalQueue):
            return await queue.ask(request, journal)
        key = queue.key(request)
        if retryable is None:
            found = journal.find(key)
        else:
            found = journal.latest(key)
            if found is not None and journal.is_retryable(key):
                retryable[key] = found.reason or "unknown"
        if found is None:
            raise Stopped
        return found

    return generate


async def _results(work: ShardWork[Result, Output], generate: Generate) -> list[Result]:
    """Return the results of the shard's problems up to the first that is not complete."""
    results = []
    for task in work.tasks:
        try:
            results.append(await task(generate))
        except Stopped:
            break
    return results
