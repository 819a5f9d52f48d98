"""Two-sided permutation p-value of every message's effect (paper, Appendix G).

Under shuffled slots, a valid block of m observed slots with t ones gives the difference
F − 2R with C(2, F)·C(1, R)·C(m − 3, t − F − R) of its C(m, t) placements. Blocks are
independent, so the null distribution of their sum is a convolution: exact, no sampling.
"""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np

from dhd.analysis.repeated.arrangements import mixed_patterns, shuffled_codes
from dhd.analysis.repeated.blocks import (
    FULL_SLOTS,
    MISSING,
    FloatArray,
    IntArray,
    ReplayBlocks,
)
from dhd.analysis.repeated.separation import VALUES, sum_by_code

#: Observed slots and ones of the valid, mixed blocks of a message, in ascending order.
MixedBlocks = tuple[tuple[int, int], ...]


def difference_ways(observed: int, ones: int) -> tuple[int, ...]:
    """Return in how many placements a valid block has difference −2, −1, 0, 1, 2 (half units)."""
    ways = [0] * len(VALUES)
    for fulls in range(FULL_SLOTS + 1):
        for removal in (0, 1):
            rest = ones - fulls - removal
            if rest >= 0:
                others = comb(observed - FULL_SLOTS - 1, rest)
                ways[fulls - 2 * removal - VALUES[0]] += comb(FULL_SLOTS, fulls) * others
    return tuple(ways)


@cache
def sum_ways(blocks: MixedBlocks) -> tuple[int, ...]:
    """Return in how many placements the differences of all blocks sum to −2n, …, 2n."""
    if not blocks:
        return (1,)
    shorter = sum_ways(blocks[:-1])
    last = difference_ways(*blocks[-1])
    result = [0] * (len(shorter) + len(last) - 1)
    for i, ways in enumerate(shorter):
        for j, factor in enumerate(last):
            result[i + j] += ways * factor
    return tuple(result)


@cache
def two_sided_p(blocks: MixedBlocks, magnitude: int) -> float:
    """Return the share of placements whose absolute sum is at least ``magnitude``."""
    ways = sum_ways(blocks)
    middle = len(ways) // 2
    tail = sum(count for i, count in enumerate(ways) if abs(i - middle) >= magnitude)
    return tail / sum(ways)


def exact_message_p(blocks: ReplayBlocks) -> FloatArray:
    """Return the exact two-sided p-value of every message: problems × messages.

    The p-value is the probability, under shuffled slots, of an absolute effect |τ̂| at least
    as large as the observed one. A message without a valid block has p = 1.
    """
    observed = (blocks.outcomes != MISSING).sum(axis=2)
    ones = (blocks.outcomes == 1).sum(axis=2)
    mixed = (ones > 0) & (ones < observed)
    result = np.ones(blocks.difference_sums.shape)
    for problem, message in np.ndindex(result.shape):
        used = blocks.valid[problem, :, message] & mixed[problem]
        if used.any():
            pairs = zip(observed[problem, used].tolist(), ones[problem, used].tolist(), strict=True)
            magnitude = abs(int(blocks.difference_sums[problem, message]))
            result[problem, message] = two_sided_p(tuple(sorted(pairs)), magnitude)
    return result


def monte_carlo_message_p(blocks: ReplayBlocks, draws: int, rng: np.random.Generator) -> FloatArray:
    """Return the sampled version of :func:`exact_message_p`.

    (1 + shuffles with |τ̂| at least as large) / (1 + draws); the paper uses 5,000 draws.
    """
    sums = sum_by_code(blocks.block_count)
    reached: IntArray = np.full(blocks.difference_sums.shape, draws, dtype=np.int64)
    for problem, slots in enumerate(blocks.outcomes):
        magnitudes = np.abs(blocks.difference_sums[problem])[:, None]
        if magnitudes.any():
            codes = shuffled_codes(mixed_patterns(slots), blocks.block_count, draws, rng)
            shuffled = np.abs(sums.take(codes))
            reached[problem] = (shuffled >= magnitudes).sum(axis=1)
    return (1 + reached) / (1 + draws)
