"""The complete scan of one problem: its pool and the 25 cells of its matrix."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from dhd.deliberation.pool import Pool, recruit_pool
from dhd.deliberation.replay import OutcomeRow, replay_cell, scan_cells
from dhd.deliberation.setup import ProtocolSetup
from dhd.messages import POOL_SIZE
from dhd.problems import Problem
from dhd.requests import Generate

#: Distinct integrator inputs of a scan beside the independent solve, and all cells.
SHARED_INPUTS, ALL_INPUTS = 18, 24


@dataclass(frozen=True, slots=True)
class Deliberation:
    """Everything that one problem's deliberation produced, before judging."""

    problem: Problem
    pool: Pool
    outcomes: tuple[OutcomeRow, ...]


async def deliberate(problem: Problem, setup: ProtocolSetup, generate: Generate) -> Deliberation:
    """Run the scan of one problem.

    The independent solver starts at once; the integrator's cells start together when all
    five messages are there.

    Returns
    -------
    Deliberation
        Five messages and 25 outcomes, whatever failed on the way.
    """
    independent, *others = scan_cells()
    solo = asyncio.ensure_future(replay_cell(problem, independent, None, setup, generate))
    # A job that stops ends the pool first; then nobody awaits this, which is no fault.
    solo.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    pool = await recruit_pool(problem, setup, generate)
    replayed = await asyncio.gather(
        solo, *(replay_cell(problem, cell, pool, setup, generate) for cell in others)
    )
    return Deliberation(problem, pool, tuple(replayed))


def expected_requests(setup: ProtocolSetup) -> int:
    """Return the requests of one problem's scan when every output can be parsed."""
    inputs = SHARED_INPUTS if setup.share_identical_inputs else ALL_INPUTS
    return 1 + POOL_SIZE + 1 + inputs
