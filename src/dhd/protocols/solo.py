"""Direct and Iterative: one solver."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from dhd.prompts.protocol_views import Rejected
from dhd.protocols.attempts import Attempt
from dhd.protocols.desk import Desk
from dhd.protocols.outputs import read_solution


def direct_attempts(desk: Desk) -> Iterator[Attempt]:
    """Yield the one attempt of Direct."""
    yield Attempt(1, "round=1", partial(_solve, desk))


def iterative_attempts(desk: Desk) -> Iterator[Attempt]:
    """Yield one attempt a round.

    The transcript is cleared each round: what carries over is the list of rejected answers
    with their hints.
    """
    for number in range(1, desk.setup.limits.rounds + 1):
        yield Attempt(number, f"round={number}", partial(_solve, desk))


async def _solve(desk: Desk, step: str, rejected: tuple[Rejected, ...]) -> str | None:
    prompt = desk.setup.prompts.solver(desk.problem, rejected)
    return read_solution(desk.problem, await desk.ask(f"{step}/solver", prompt)).answer
