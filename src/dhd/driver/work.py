"""What a session works on, within which limits, and with whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from dhd.errors import IncompleteError
from dhd.requests import Generate
from dhd.wording import number_of

Result = TypeVar("Result")
Output = TypeVar("Output")


@dataclass(frozen=True, slots=True)
class ShardWork(Generic[Result, Output]):
    """The work of one shard.

    Attributes
    ----------
    name
        Identifies the shard in results, messages and file names, e.g. ``00000-00015``.
    journal
        Path of the shard's journal.
    tasks
        One coroutine function a problem; each gets the ``generate`` that asks for it.
    gather
        Turns the results, in the order of the tasks, into what is kept of the shard.
    earlier
        Journals of other cuts of the same problems.
    expected
        Requests that the shard is expected to need, where that is known.
    """

    name: str
    journal: Path
    tasks: Sequence[Callable[[Generate], Awaitable[Result]]]
    gather: Callable[[list[Result]], Output]
    earlier: tuple[Path, ...] = ()
    expected: int | None = None


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
    deadline
        Time, in seconds since the epoch, by which everything has to be written; None where
        the job has no walltime.
    longest_request_s
        Time that a request is expected to take at most, until enough have been seen.
    """

    max_attempts: int = 3
    drain_s: float = 60.0
    stale_after_s: float = 180.0
    max_outstanding: int = 512
    deadline: float | None = None
    longest_request_s: float = 120.0


@dataclass(frozen=True, slots=True)
class Reports:
    """What status files say of a session's work, and where those of its engines go.

    Attributes
    ----------
    stage
        Folder of the work below the study's bundles, e.g. ``deliberation/oss/jeebench``.
    settings
        Digest of the settings that the work follows from; empty where it has none.
    engines
        Folder of the engines' status files.
    """

    stage: str
    settings: str
    engines: Path


class Peers(Protocol):
    """The workers of one job, each with an engine, that share its shards."""

    count: int

    def finished(self) -> Collection[str]:
        """Return the shards that some worker of this job finished, as of a moment ago."""

    def has_finished(self, name: str) -> bool:
        """Return whether some worker of this job finished a shard, as of now."""

    def finish(self, name: str) -> None:
        """Tell the others that a shard is finished."""


def raise_if_retryable(reasons: Mapping[str, str], max_attempts: int) -> None:
    """Raise when requests failed that a later run asks again.

    Parameters
    ----------
    reasons
        Why each such request failed, by its key.
    max_attempts
        Runs in which a request is asked before it stays failed.

    Raises
    ------
    IncompleteError
        With the reasons and how often each occurred.
    """
    if reasons:
        common = Counter(reasons.values()).most_common()
        counted = ", ".join(f"{reason} ×{n}" for reason, n in common)
        raise IncompleteError(
            f"{number_of(len(reasons), 'request')} failed ({counted}); run the same command again "
            f"to ask once more (journal.max_attempts = {max_attempts})"
        )
