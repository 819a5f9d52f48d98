"""Problem-blocked test of the wrong-helpful direction (paper, Appendix G, Table 20).

The five messages of a problem share its full-pool outcomes. The test therefore takes one
statistic a problem, the largest τ̂ among its wrong messages, and asks how often shuffled slots
reach it. With F the summed full outcomes and R_i the summed removals of message i, that
statistic is (F − 2 min R_i) / 2B: its exact null follows from a dynamic program over blocks
whose state is F and the removal counts of the wrong messages. Wrong messages are exchangeable
under the null, so that the counts enter the state in sorted order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations, combinations_with_replacement
from math import comb, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dhd.analysis.repeated.arrangements import block_pattern, placements
from dhd.analysis.repeated.blocks import (
    FULL_SLOTS,
    SLOTS,
    BoolArray,
    FloatArray,
    Int8Array,
    IntArray,
    ReplayBlocks,
)

#: Ones in each mixed block of a complete problem, in ascending order.
OnesPattern = tuple[int, ...]
_CHUNK: int = 250_000


@dataclass(frozen=True, slots=True)
class ProblemPatterns:
    """What the null of each eligible problem depends on.

    Attributes
    ----------
    positions
        Positions of the eligible problems in the study.
    patterns
        Ones of their mixed blocks and number of wrong messages.
    statistics
        Observed statistic in half units of the block sum, 2B max τ̂.
    """

    positions: IntArray
    patterns: tuple[tuple[OnesPattern, int], ...]
    statistics: IntArray


def eligible_problems(blocks: ReplayBlocks) -> BoolArray:
    """Return which problems are complete and have a wrong message."""
    return np.asarray(blocks.complete & (blocks.proposals == 0).any(axis=1))


def problem_patterns(blocks: ReplayBlocks) -> ProblemPatterns:
    """Reduce the eligible problems of a study to their patterns and statistics."""
    eligible = eligible_problems(blocks)
    wrong = blocks.proposals[eligible] == 0
    ones = blocks.outcomes[eligible].sum(axis=2, dtype=np.int64)
    lowest = np.iinfo(np.int64).min
    sums = np.where(wrong, blocks.difference_sums[eligible], lowest)
    return ProblemPatterns(
        positions=np.flatnonzero(eligible),
        patterns=tuple(
            (tuple(sorted(t for t in row if 0 < t < SLOTS)), int(count))
            for row, count in zip(ones.tolist(), wrong.sum(axis=1), strict=True)
        ),
        statistics=sums.max(axis=1, initial=lowest),
    )


def exact_problem_p(patterns: ProblemPatterns) -> FloatArray:
    """Return the exact one-sided p-value of every eligible problem."""
    return np.array(
        [
            _tail(ones, wrong, int(statistic))
            for (ones, wrong), statistic in zip(patterns.patterns, patterns.statistics, strict=True)
        ],
        dtype=np.float64,
    )


def monte_carlo_problem_p(
    patterns: ProblemPatterns, draws: int, rng: np.random.Generator
) -> FloatArray:
    """Return the sampled version of :func:`exact_problem_p`, (1 + reached) / (1 + draws).

    Problems with one pattern share their draws (paper: 1,000,000).
    """
    result = np.empty(len(patterns.patterns))
    for pattern in sorted(set(patterns.patterns)):
        which = np.array([p == pattern for p in patterns.patterns])
        null = sampled_maximum(*pattern, draws, rng)
        thresholds = patterns.statistics[which]
        at_least = np.array([null[: value + 1].sum() for value in _from_top(thresholds, null)])
        result[which] = (1 + at_least) / (1 + draws)
    return result


@cache
def maximum_ways(ones: OnesPattern, wrong: int) -> npt.NDArray[Any]:
    """Return the exact null of F − 2 min R_i as counts of placements.

    Parameters
    ----------
    ones
        Ones of the mixed blocks, j of them; the other blocks add 0 to the statistic.
    wrong
        Number of wrong messages, at least 1.

    Returns
    -------
    Number of placements for the values 2j, 2j − 1, …, −2j (descending).
    """
    ways = _state_ways(ones, wrong)
    lowest = np.array([state[0] for state in _states(len(ones), wrong)])
    result = np.zeros(4 * len(ones) + 1, dtype=ways.dtype)
    for fulls, row in enumerate(ways):
        np.add.at(result, 2 * len(ones) - fulls + 2 * lowest, row)
    result.setflags(write=False)
    return result


def sampled_maximum(
    ones: OnesPattern, wrong: int, draws: int, rng: np.random.Generator
) -> IntArray:
    """Return :func:`maximum_ways` from random placements, as counts of draws."""
    result = np.zeros(4 * len(ones) + 1, dtype=np.int64)
    for start in range(0, draws, _CHUNK):
        size = min(_CHUNK, draws - start)
        differences = np.zeros((wrong, size), dtype=np.int8)
        for count in ones:
            table = _wrong_differences(count, wrong)
            differences += table.take(rng.integers(table.shape[1], size=size), axis=1)
        result += np.bincount(2 * len(ones) - differences.max(axis=0), minlength=len(result))
    return result


def _tail(ones: OnesPattern, wrong: int, statistic: int) -> float:
    ways = maximum_ways(ones, wrong)
    reached = sum(ways[: 2 * len(ones) - statistic + 1].tolist())
    return float(reached / sum(ways.tolist()))


def _from_top(statistics: IntArray, null: IntArray) -> IntArray:
    return (len(null) - 1) // 2 - statistics


@cache
def _wrong_differences(ones: int, wrong: int) -> Int8Array:
    """Return the differences (half units) of the wrong messages: messages × placements."""
    slots = placements(block_pattern(np.array([1] * ones + [0] * (SLOTS - ones), dtype=np.int8)))
    fulls = slots[:, :FULL_SLOTS].sum(axis=1, dtype=np.int8)
    removals = slots[:, FULL_SLOTS : FULL_SLOTS + wrong]
    return np.ascontiguousarray((fulls[:, None] - 2 * removals).T.astype(np.int8))


@cache
def _states(blocks: int, wrong: int) -> tuple[tuple[int, ...], ...]:
    """Return the sorted removal counts that ``blocks`` mixed blocks can leave."""
    return tuple(combinations_with_replacement(range(blocks + 1), wrong))


@cache
def _moves(blocks: int, wrong: int, chosen: int) -> tuple[IntArray, IntArray]:
    """Return source and target states when one more block has ``chosen`` wrong removals at 1."""
    targets = {state: i for i, state in enumerate(_states(blocks + 1, wrong))}
    pairs = []
    for source, state in enumerate(_states(blocks, wrong)):
        for subset in combinations(range(wrong), chosen):
            after = tuple(sorted(n + (i in subset) for i, n in enumerate(state)))
            pairs.append((source, targets[after]))
    sources, destinations = np.array(pairs, dtype=np.int64).T
    return sources, destinations


@cache
def _state_ways(ones: OnesPattern, wrong: int) -> npt.NDArray[Any]:
    """Return the number of placements of each (F, removal counts): (2j + 1) × states."""
    total = prod(comb(SLOTS, count) for count in ones)
    if not ones:
        return np.ones((1, 1), dtype=np.int64)
    before = _state_ways(ones[:-1], wrong)
    if total > np.iinfo(np.int64).max:
        before = before.astype(np.object_)
    after = np.zeros((2 * len(ones) + 1, len(_states(len(ones), wrong))), dtype=before.dtype)
    others = SLOTS - FULL_SLOTS - wrong
    for chosen in range(wrong + 1):
        sources, targets = _moves(len(ones) - 1, wrong, chosen)
        moved = np.zeros((len(before), after.shape[1]), dtype=before.dtype)
        np.add.at(moved.T, targets, before[:, sources].T)
        for fulls in range(FULL_SLOTS + 1):
            rest = ones[-1] - fulls - chosen
            if rest >= 0:
                factor = comb(FULL_SLOTS, fulls) * comb(others, rest)
                after[fulls : fulls + len(before)] += factor * moved
    return after
