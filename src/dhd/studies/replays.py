"""Replaying a cached pool call after call."""

from __future__ import annotations

from collections.abc import Iterable

from dhd.deliberation import Cell, OutcomeRow, Pool, ProtocolSetup, replay_cell
from dhd.problems import Problem
from dhd.requests import Generate
from dhd.studies.masking import masked_pool


async def replay_schedule(
    problem: Problem,
    pool: Pool,
    schedule: Iterable[Cell],
    setup: ProtocolSetup,
    generate: Generate,
) -> tuple[OutcomeRow, ...]:
    """Make the calls of a schedule one after the other; only the integrator is asked.

    The order of calls is part of these studies, so a call is made when the one before it is
    answered: identical inputs never stand side by side in an engine's batch. Engines are kept
    busy by many problems at a time.
    """
    return tuple(
        [
            await replay_cell(problem, cell, masked_pool(pool, cell), setup, generate)
            for cell in schedule
        ]
    )
