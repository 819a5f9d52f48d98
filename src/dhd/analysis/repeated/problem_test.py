"""Problem-blocked test of the wrong-helpful direction (paper, Appendix G, Table 20).

The five messages of a problem share its full-pool outcomes. The test therefore takes one
statistic a problem, the largest τ̂ among its wrong messages, and asks how often shuffled slots
reach it; its null is in :mod:`~dhd.analysis.repeated.maximum_null`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dhd.analysis.repeated.blocks import (
    SLOTS,
    BoolArray,
    FloatArray,
    IntArray,
    ReplayBlocks,
)
from dhd.analysis.repeated.maximum_null import (
    OnesPattern,
    WaysArray,
    maximum_ways,
    sampled_maximum,
)


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
    result = np.empty(len(patterns.patterns))
    for problem, (pattern, statistic) in enumerate(
        zip(patterns.patterns, patterns.statistics.tolist(), strict=True)
    ):
        ways = maximum_ways(*pattern)
        result[problem] = _reached(ways, statistic) / sum(ways.tolist())
    return result


def monte_carlo_problem_p(
    patterns: ProblemPatterns, draws: int, rng: np.random.Generator
) -> FloatArray:
    """Return the sampled version of :func:`exact_problem_p`, (1 + reached) / (1 + draws).

    Problems with one pattern share their draws (paper: 1,000,000).
    """
    null = {
        pattern: sampled_maximum(*pattern, draws, rng) for pattern in sorted(set(patterns.patterns))
    }
    reached = [
        _reached(null[pattern], statistic)
        for pattern, statistic in zip(patterns.patterns, patterns.statistics.tolist(), strict=True)
    ]
    return (1 + np.array(reached, dtype=np.float64)) / (1 + draws)


def _reached(ways: WaysArray, statistic: int) -> int:
    """Return how many of the counts, descending from 2j, belong to values ≥ the statistic."""
    largest = (len(ways) - 1) // 2
    return sum(ways[: largest - statistic + 1].tolist())
