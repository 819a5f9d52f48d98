"""Ways to put a block's outcomes into its slots.

Under the null of no availability effect the observed slots of a block are exchangeable
(paper, Appendix G): with m observed slots of which t are 1, all C(m, t) placements of the ones
are equally likely. Slots that were not observed stay missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from dhd.analysis.repeated.blocks import FULL_SLOTS, MISSING, SLOTS, Int8Array
from dhd.analysis.repeated.separation import VALUES, code_weights

#: Observed slots (as a tuple of booleans) and number of ones of a block.
BlockPattern = tuple[tuple[bool, ...], int]
CodeArray = npt.NDArray[np.int32]


def block_pattern(slots: Int8Array) -> BlockPattern:
    """Return which of a block's slots were observed, and how many of them are 1."""
    values = slots.tolist()
    return tuple(value != MISSING for value in values), values.count(1)


def mixed_patterns(slots: Int8Array) -> list[BlockPattern]:
    """Return the patterns of a problem's blocks (blocks × slots) whose outcomes differ.

    The other blocks are the same in every shuffle, and have only zero differences.
    """
    patterns = [block_pattern(block) for block in slots]
    return [(observed, ones) for observed, ones in patterns if 0 < ones < sum(observed)]


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
def placement_codes(pattern: BlockPattern, blocks: int) -> CodeArray:
    """Return what each placement adds to the code of each message: messages × ways.

    Codes are those of :func:`~dhd.analysis.repeated.separation.code_weights`; a message whose
    difference is not valid in this block gets nothing.
    """
    slots = placements(pattern)
    fulls, removals = slots[:, :FULL_SLOTS], slots[:, FULL_SLOTS:]
    valid = (fulls != MISSING).all(axis=1, keepdims=True) & (removals != MISSING)
    # A difference of zero adds nothing, and stands for one that is not valid.
    differences = np.where(valid, fulls.sum(axis=1, keepdims=True) - 2 * removals, 0)
    codes = code_weights(blocks)[differences - VALUES[0]]
    result = np.ascontiguousarray(codes.T, dtype=np.int32)
    result.setflags(write=False)
    return result


def shuffled_codes(
    patterns: Sequence[BlockPattern], blocks: int, draws: int, rng: np.random.Generator
) -> CodeArray:
    """Return the codes of the five messages under random placements.

    Parameters
    ----------
    patterns
        The mixed blocks of one problem, from :func:`mixed_patterns`.
    blocks
        Number of blocks of the study, which sets the base of the codes.
    draws
        Number of shuffles. All seven slots of a block move together, so that one shuffle
        gives all five messages.
    rng
        Source of randomness.

    Returns
    -------
    Messages × draws.
    """
    codes = np.zeros((SLOTS - FULL_SLOTS, draws), dtype=np.int32)
    for pattern in patterns:
        added = placement_codes(pattern, blocks)
        codes += added.take(rng.integers(added.shape[1], size=draws), axis=1)
    return codes
