"""Replaying the integrator on a cached pool: which messages each cell shows, and its outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dhd.answers import extract_answer
from dhd.deliberation.pool import Pool
from dhd.deliberation.setup import ProtocolSetup
from dhd.messages import POOL_SIZE
from dhd.problems import Problem
from dhd.requests import Completion, Generate

Condition = Literal["independent", "single", "full", "removal"]
OutcomeStatus = Literal["ok", "no_answer", "truncated", "failed"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the scan's matrix.

    Attributes
    ----------
    condition
        ``independent`` (K = 0), ``single``, ``full`` or ``removal``.
    k
        0 independent; 1 single; prefix size for full and removal.
    message_index
        Message shown (single) or hidden (removal); 0 where none is targeted.
    """

    condition: Condition
    k: int
    message_index: int = 0

    def indices(self) -> tuple[int, ...]:
        """Return the indices of the messages that the integrator may see."""
        if self.condition == "single":
            return (self.message_index,)
        prefix = range(1, self.k + 1)
        return tuple(i for i in prefix if self.condition == "full" or i != self.message_index)

    @property
    def draw(self) -> str:
        """Return the draw id that makes this cell's call its own."""
        return f"scan/{self.condition}/k={self.k}/i={self.message_index}"


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """One integrator or independent-solver outcome, before it is judged."""

    cell: Cell
    answer: str | None
    status: OutcomeStatus
    reason: str | None = None
    completion: Completion | None = None


def scan_cells() -> tuple[Cell, ...]:
    """Return the 25 cells of a scan: K = 0, singles, prefixes K = 1…5, removals K = 2…5."""
    independent = (Cell("independent", 0),)
    singles = tuple(Cell("single", 1, i) for i in range(1, POOL_SIZE + 1))
    prefixes = tuple(Cell("full", k) for k in range(1, POOL_SIZE + 1))
    removals = tuple(
        Cell("removal", k, i) for k in range(2, POOL_SIZE + 1) for i in range(1, k + 1)
    )
    return independent + singles + prefixes + removals


async def replay_cell(
    problem: Problem, cell: Cell, pool: Pool | None, setup: ProtocolSetup, generate: Generate
) -> OutcomeRow:
    """Ask the integrator for one cell; ``pool`` is None for the independent solver alone.

    With ``share_identical_inputs`` the request carries no draw id, so that cells which show
    the same messages share one call.
    """
    if pool is not None and not pool.has_roster:
        return OutcomeRow(cell, None, "failed", "no_roster")
    shown = () if pool is None else pool.shown(cell.indices())
    request = setup.request(
        "integrator",
        setup.prompts.integrator(problem, shown),
        setup.prompts.integrator_schema(problem),
        "" if setup.share_identical_inputs else cell.draw,
    )
    return read_outcome(problem, cell, await generate(request))


def read_outcome(problem: Problem, cell: Cell, completion: Completion) -> OutcomeRow:
    """Read the final answer of an integrator's output."""
    if completion.status == "failed":
        return OutcomeRow(cell, None, "failed", completion.reason, completion)
    answer = None
    if completion.text is not None:
        answer = extract_answer(
            completion.text,
            answer_format=problem.answer_format,
            options=problem.options,
            finish_reason=completion.finish_reason,
        )
    if answer is not None:
        return OutcomeRow(cell, answer, "ok", None, completion)
    status: OutcomeStatus = "truncated" if completion.finish_reason == "length" else "no_answer"
    return OutcomeRow(cell, None, status, None, completion)
