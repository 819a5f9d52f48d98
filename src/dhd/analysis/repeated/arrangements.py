"""Ways to put a block's outcomes into its slots.

Under the null of no availability effect the observed slots of a block are exchangeable
(paper, Appendix G): with m observed slots of which t are 1, all C(m, t) placements of the ones
are equally likely. Slots that were not observed stay missing.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np

from dhd.analysis.repeated.blocks import FULL_SLOTS, MISSING, SLOTS, Int8Array, IntArray
from dhd.analysis.repeated.separation import VALUES, code_weights

#: Observed slots (as a tuple of booleans) and number of ones of a block.
BlockPattern = tuple[tuple[bool, ...], int]


def block_pattern(slots: Int8Array) -> BlockPattern:
    """Return which of a block's slots were observed, and how many of them are 1."""
    observed = slots != MISSING
    return tuple(observed.tolist()), int(slots[observed].sum())


def is_mixed(slots: Int8Array) -> bool:
    """Return whether a block's observed outcomes differ; others are the same in every shuffle."""
    observed, ones = block_pattern(slots)
    return 0 < ones < sum(observed)


@lru_cache(maxsize=4096)
def placements(pattern: BlockPattern) -> Int8Array:
    """Return all placements of a block's ones: ways × slots, :data:`MISSING` where missing."""
    observed, ones = pattern
    positions = np.flatnonzero(observed)
    result = np.full((comb(len(positions), ones), SLOTS), MISSING, dtype=np.int8)
    result[:, positions] = 0
    for way, chosen in enumerate(combinations(positions, ones)):
        result[way, list(chosen)] = 1
    result.setflags(write=False)
    return result


@lru_cache(maxsize=4096)
def placement_codes(pattern: BlockPattern, blocks: int) -> IntArray:
    """Return what each placement adds to the code of each message: messages × ways.

    Codes are those of :func:`~dhd.analysis.repeated.separation.code_weights`; a message whose
    difference is not valid in this block gets nothing.
    """
    slots = placements(pattern)
    fulls, removals = slots[:, :FULL_SLOTS], slots[:, FULL_SLOTS:]
    valid = (fulls != MISSING).all(axis=1, keepdims=True) & (removals != MISSING)
    differences = fulls.sum(axis=1, keepdims=True) - 2 * removals
    codes = np.where(valid, code_weights(blocks)[differences - VALUES[0]], 0)
    result = np.ascontiguousarray(codes.T)
    result.setflags(write=False)
    return result


def shuffled_codes(slots: Int8Array, draws: int, rng: np.random.Generator) -> IntArray:
    """Return the codes of the five messages under random placements.

    Parameters
    ----------
    slots
        Blocks × slots of one problem.
    draws
        Number of shuffles. All seven slots of a block move together, so that one shuffle
        gives all five messages.
    rng
        Source of randomness.

    Returns
    -------
    Messages × draws.
    """
    blocks = len(slots)
    codes = np.zeros((SLOTS - FULL_SLOTS, draws), dtype=np.int64)
    for block in slots:
        if is_mixed(block):
            added = placement_codes(block_pattern(block), blocks)
            codes += added.take(rng.integers(added.shape[1], size=draws), axis=1)
    return codes
