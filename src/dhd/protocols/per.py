"""Planner–executor–reviewer (PER)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from dhd.prompts.protocol_views import Rejected
from dhd.protocols.attempts import Attempt
from dhd.protocols.desk import Desk
from dhd.protocols.outputs import Review, read_review, read_solution, text_reader

NO_PLAN = "Solve the problem step by step and check the result."
"""What the executor gets when no plan can be read."""


@dataclass(slots=True)
class _Draft:
    """What a round has so far: plan, review of it, and the executor's latest answer."""

    plan: str | None = None
    review: Review | None = None
    answer: str | None = None


def per_attempts(desk: Desk) -> Iterator[Attempt]:
    """Yield two attempts a round: cycles of plan, execution and review, then one repair pass.

    In the repair pass the planner sees the round's plan, its review, and the evaluator's hint.
    """
    for number in range(1, desk.setup.limits.rounds + 1):
        draft = _Draft()
        cycles = desk.setup.limits.review_cycles
        yield Attempt(number, f"round={number}", partial(_cycle, desk, draft, cycles))
        yield Attempt(number, f"round={number}/repair", partial(_repair, desk, draft))


async def _repair(
    desk: Desk, draft: _Draft, step: str, rejected: tuple[Rejected, ...]
) -> str | None:
    """Plan, execute and review once more, from the start whatever the review's route was."""
    draft.answer = None
    if draft.review is not None:
        draft.review = Review("planner", draft.review.text, None)
    return await _cycle(desk, draft, 1, step, rejected)


async def _cycle(
    desk: Desk, draft: _Draft, cycles: int, step: str, rejected: tuple[Rejected, ...]
) -> str | None:
    """Return the submission: the reviewer's on agree, else the executor's latest answer."""
    for cycle in range(1, cycles + 1):
        at = f"{step}/cycle={cycle}"
        work = await _execute(desk, draft, await _plan(desk, draft, at, rejected), at, rejected)
        draft.review = await _review(desk, draft, work, at, rejected)
        if draft.review is not None and draft.review.route == "agree":
            return draft.review.answer or draft.answer
    return draft.answer


async def _plan(desk: Desk, draft: _Draft, at: str, rejected: tuple[Rejected, ...]) -> str:
    """Return the plan to execute: the present one when only its execution was criticised."""
    review = draft.review
    if draft.plan is None or review is None or review.route != "executor":
        prompt = desk.setup.prompts.planner(
            desk.problem, rejected, draft.plan, None if review is None else review.text
        )
        draft.plan = await desk.read(f"{at}/planner", prompt, text_reader("plan"))
    return draft.plan or NO_PLAN


async def _execute(
    desk: Desk, draft: _Draft, plan: str, at: str, rejected: tuple[Rejected, ...]
) -> str:
    review = draft.review
    again = review.text if review is not None and review.route == "executor" else None
    prompt = desk.setup.prompts.executor(desk.problem, rejected, plan, again)
    solution = read_solution(desk.problem, await desk.ask(f"{at}/executor", prompt))
    draft.answer = solution.answer or draft.answer
    return solution.text


async def _review(
    desk: Desk, draft: _Draft, work: str, at: str, rejected: tuple[Rejected, ...]
) -> Review | None:
    """Return the review; one that cannot be read agrees with nothing and asks for nothing."""
    prompt = desk.setup.prompts.reviewer(
        desk.problem, rejected, draft.plan or NO_PLAN, work, draft.answer
    )
    return await desk.read(f"{at}/reviewer", prompt, partial(read_review, desk.problem))
