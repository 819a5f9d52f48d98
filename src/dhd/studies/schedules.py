"""The calls of a replay study, in the order in which they are made.

A schedule is made of blocks. All studies replay the whole pool of five messages (K = 5).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from dhd.deliberation import Cell
from dhd.deliberation.replay import Condition
from dhd.messages import POOL_SIZE
from dhd.studies.draws import shuffled

Schedule = tuple[Cell, ...]

#: Removals between the two full-pool calls of a block: neither call is next to the other.
_REMOVALS_BETWEEN: Final = 3

#: Condition and repeat of a masking case's calls; no call is next to one of equal input.
_MASKING_ORDER: Final[tuple[tuple[Condition, int], ...]] = (
    ("full", 1),
    ("removal", 1),
    ("repeat", 1),
    ("neutral", 1),
    ("full", 2),
    ("mask_answer", 1),
    ("repeat", 2),
    ("mask_reasoning", 1),
)


def repeats_schedule(blocks: int, study: str = "repeats") -> Schedule:
    """Return the calls of controlled repeats: per block two full pools and five removals.

    The full-pool calls are interleaved with the removals, in one fixed order (Appendix G).
    """
    return tuple(cell for block in range(1, blocks + 1) for cell in _in_order(_block(study, block)))


def order_schedule(blocks: int, *, seed: int, label: str) -> Schedule:
    """Return the calls of the order study: each block in a random order of its own.

    Parameters
    ----------
    blocks
        Blocks of seven calls.
    seed, label
        What the orders follow from; ``label`` names family and problem.
    """
    return tuple(
        cell
        for block in range(1, blocks + 1)
        for cell in _in_order(
            shuffled(_block("order", block), seed, label, key=lambda cell: cell.draw)
        )
    )


def masking_schedule(message_index: int, repetitions: int) -> Schedule:
    """Return the calls of one masking case: eight a repetition, interleaved (Appendix H).

    Every call carries the case's message, so that two cases may share a problem.
    """
    return tuple(
        cell
        for block in range(1, repetitions + 1)
        for cell in _in_order(
            Cell(condition, POOL_SIZE, message_index, "masking", block, repeat)
            for condition, repeat in _MASKING_ORDER
        )
    )


def _block(study: str, block: int) -> Schedule:
    removals = [
        Cell("removal", POOL_SIZE, index, study, block) for index in range(1, POOL_SIZE + 1)
    ]
    first, second = (Cell("full", POOL_SIZE, 0, study, block, repeat) for repeat in (1, 2))
    return (first, *removals[:_REMOVALS_BETWEEN], second, *removals[_REMOVALS_BETWEEN:])


def _in_order(cells: Iterable[Cell]) -> Schedule:
    return tuple(replace(cell, slot=slot) for slot, cell in enumerate(cells, 1))
