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

Condition = Literal[
    "independent",
    "single",
    "full",
    "removal",
    "repeat",
    "neutral",
    "mask_answer",
    "mask_reasoning",
]
OutcomeStatus = Literal["ok", "no_answer", "truncated", "failed"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the scan's matrix, or one call of a repeated study.

    Attributes
    ----------
    condition
        ``independent`` (K = 0), ``single``, ``full``, ``removal``; in masking also ``repeat``
        (an identical input), ``neutral``, ``mask_answer``, ``mask_reasoning``.
    k
        0 independent; 1 single; else how many messages the pool's prefix has.
    message_index
        Message shown (single) or targeted (removal, masking); 0 where none is.
    study
        ``scan``, or the repeated study whose call this is.
    block, repeat, slot
        In a repeated study: block from 1, which of the identical calls of a block, and place
        in the block's order of calls from 1.
    """

    condition: Condition
    k: int
    message_index: int = 0
    study: str = "scan"
    block: int = 0
    repeat: int = 1
    slot: int = 1

    def indices(self) -> tuple[int, ...]:
        """Return the indices of the messages that the integrator may see."""
        if self.condition == "single":
            return (self.message_index,)
        prefix = range(1, self.k + 1)
        return tuple(i for i in prefix if self.condition != "removal" or i != self.message_index)

    @property
    def draw(self) -> str:
        """Return the draw id that makes this cell's call its own.

        The slot is no part of it: an answer does not depend on the order of calls.
        """
        cell = f"{self.study}/{self.condition}/k={self.k}/i={self.message_index}"
        return f"{cell}/block={self.block}/repeat={self.repeat}" if self.block else cell


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

    With ``share_identical_inputs`` the scan's requests carry no draw id, so that cells which
    show the same messages share one call. Those of the repeated studies always carry one.
    """
    if pool is not None and not pool.has_roster:
        return OutcomeRow(cell, None, "failed", "no_roster")
    shown = () if pool is None else pool.shown(cell.indices())
    is_shared = setup.share_identical_inputs and cell.study == "scan"
    request = setup.request(
        "integrator",
        setup.prompts.integrator(problem, shown),
        setup.prompts.integrator_schema(problem),
        "" if is_shared else cell.draw,
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
