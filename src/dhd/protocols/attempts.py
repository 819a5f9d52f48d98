"""The loop that all protocols share: attempt, judge, carry the rejection on, until a PASS."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from dhd.prompts.protocol_views import Rejected
from dhd.protocols.referee import Referee


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of a protocol, from what was rejected to a submission.

    Attributes
    ----------
    round
        Outer round that it belongs to, from 1.
    step
        What distinguishes its calls from those of other attempts.
    submit
        Makes the submission, None where there is no final answer; it gets the step and the
        answers rejected so far.
    """

    round: int
    step: str
    submit: Callable[[str, tuple[Rejected, ...]], Awaitable[str | None]]


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended: its last submission, whether that passed, and in which round."""

    answer: str | None
    passes: bool
    rounds: int
    judged_by: str | None


async def until_pass(attempts: Iterable[Attempt], referee: Referee) -> Ending:
    """Make attempts until one passes or none is left; no hint is asked for after the last."""
    planned = tuple(attempts)
    rejected: tuple[Rejected, ...] = ()
    for attempt in planned:
        answer = await attempt.submit(attempt.step, rejected)
        is_last = attempt is planned[-1]
        ruling = await referee.rule(answer, attempt.step, wants_hint=not is_last)
        ending = Ending(answer, ruling.passes, attempt.round, ruling.judged_by)
        if ruling.passes:
            break
        rejected = (*rejected, Rejected(answer, ruling.hint))
    return ending
