"""One run of one protocol on one problem, from the first call to its row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from dhd.config.protocols import ProtocolName
from dhd.problems import Problem
from dhd.protocols.attempts import Attempt, until_pass
from dhd.protocols.broadcast import broadcast_attempts
from dhd.protocols.desk import CallFailedError, Desk
from dhd.protocols.per import per_attempts
from dhd.protocols.referee import Referee, UnjudgedError
from dhd.protocols.setup import Compare, EndToEndSetup
from dhd.protocols.solo import direct_attempts, iterative_attempts
from dhd.requests import Generate

RunStatus = Literal["ok", "no_answer", "failed", "unjudged"]

ATTEMPTS: Final[Mapping[ProtocolName, Callable[[Desk], Iterator[Attempt]]]] = {
    "direct": direct_attempts,
    "iterative": iterative_attempts,
    "per": per_attempts,
    "broadcast": broadcast_attempts,
}


@dataclass(frozen=True, slots=True)
class ProtocolRun:
    """The outcome of one run.

    Attributes
    ----------
    protocol
        Which protocol.
    answer
        The last submission, None where there is none.
    correct
        Whether it passed; False without a final answer, None when the run was not observed.
    status, reason
        ``ok``; ``no_answer``; ``failed`` when a call got no answer at all and ``unjudged``
        when a submission got no verdict, each with the reason.
    rounds
        Outer rounds that were begun; 0 when the run was not observed.
    calls, prompt_tokens, completion_tokens
        All calls of the run and their tokens: evaluator, hints and retries included.
    evaluator_calls
        Calls to the evaluator among them.
    answered_by, judged_by
        Models that solved and judged, or ``rules``.
    """

    protocol: ProtocolName
    answer: str | None
    correct: bool | None
    status: RunStatus
    reason: str | None
    rounds: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    evaluator_calls: int
    answered_by: str | None
    judged_by: str | None


async def run_protocol(
    protocol: ProtocolName,
    problem: Problem,
    setup: EndToEndSetup,
    generate: Generate,
    compare: Compare | None = None,
) -> ProtocolRun:
    """Run one protocol on one problem (paper, System-Level Protocol and Cost Context).

    Parameters
    ----------
    compare
        Compares by rules before an evaluator is asked; None where a model alone judges.

    Returns
    -------
    ProtocolRun
        Whatever went wrong on the way; what ``generate`` raises passes through.
    """
    desk = Desk(problem, protocol, setup, generate)
    answer: str | None = None
    correct: bool | None = None
    rounds, judged_by, reason = 0, None, None
    status: RunStatus = "ok"
    try:
        ending = await until_pass(ATTEMPTS[protocol](desk), Referee(desk, compare))
    except CallFailedError as error:
        status, reason = "failed", str(error)
    except UnjudgedError as error:
        status, reason, answer = "unjudged", str(error), error.answer
    else:
        answer, correct, rounds = ending.answer, ending.passes, ending.rounds
        judged_by = ending.judged_by
        status = "no_answer" if answer is None else "ok"
    return ProtocolRun(
        protocol=protocol,
        answer=answer,
        correct=correct,
        status=status,
        reason=reason,
        rounds=rounds,
        calls=desk.calls,
        prompt_tokens=desk.prompt_tokens,
        completion_tokens=desk.completion_tokens,
        evaluator_calls=desk.evaluator_calls,
        answered_by=desk.answered_by,
        judged_by=judged_by,
    )
