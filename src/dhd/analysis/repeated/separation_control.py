"""Permutation control of the number of separated messages (paper, Table 19)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dhd.analysis.repeated.arrangements import BlockPattern, mixed_patterns, shuffled_codes
from dhd.analysis.repeated.blocks import BoolArray, Int8Array, IntArray, ReplayBlocks
from dhd.analysis.repeated.separation import (
    fewest_nonzero_blocks,
    separation,
    separation_by_code,
)

#: Every separated message, whatever its proposal.
SEPARATED: Final = "separated"
#: Separated cells: proposal correctness and label.
CELLS: Final[Mapping[str, tuple[int, int]]] = {
    "wrong_helpful": (0, 1),
    "wrong_harmful": (0, -1),
    "correct_helpful": (1, 1),
    "correct_harmful": (1, -1),
}
CATEGORIES: Final = (SEPARATED, *CELLS)


def in_category(category: str, labels: Int8Array, proposals: Int8Array) -> BoolArray:
    """Return which messages belong to a category; the arguments broadcast."""
    if category == SEPARATED:
        return np.asarray(labels != 0)
    proposal, label = CELLS[category]
    return np.asarray((proposals == proposal) & (labels == label))


@dataclass(frozen=True, slots=True)
class SeparationControl:
    """Counts of separated messages, observed and under shuffled slots.

    Attributes
    ----------
    observed
        Count of every category.
    null
        Per category the counts of the shuffled data sets (draws).
    """

    observed: Mapping[str, int]
    null: Mapping[str, IntArray]

    def count_range(self, category: str) -> tuple[float, float]:
        """Return the linear 2.5 and 97.5 percentiles of a category's null counts."""
        low, high = np.percentile(self.null[category], (2.5, 97.5))
        return float(low), float(high)

    def p_value(self, category: str) -> float:
        """Return (1 + shuffles with at least the observed count) / (1 + shuffles)."""
        null = self.null[category]
        return float((1 + int((null >= self.observed[category]).sum())) / (1 + len(null)))


def separation_control(
    blocks: ReplayBlocks, draws: int, rng: np.random.Generator
) -> SeparationControl:
    """Shuffle the seven slots within every problem-block and rerun the separation.

    Problems whose blocks cannot separate any message in any shuffle are skipped: a block with
    equal outcomes has only zero differences, and a message needs
    :func:`~dhd.analysis.repeated.separation.fewest_nonzero_blocks`. Memory is bounded by one
    problem's shuffles, time is linear in problems.

    Parameters
    ----------
    blocks
        The study; its problems are shuffled independently.
    draws
        Number of shuffled data sets (paper: 5,000).
    rng
        Source of randomness.
    """
    labels = separation(blocks.differences, blocks.valid)
    null = {category: np.zeros(draws, dtype=np.int64) for category in CATEGORIES}
    for slots, proposals, valid_blocks in zip(
        blocks.outcomes, blocks.proposals, blocks.valid_blocks, strict=True
    ):
        patterns = mixed_patterns(slots)
        if len(patterns) >= _fewest_blocks(valid_blocks):
            shuffled = _shuffled_labels(patterns, valid_blocks, len(slots), draws, rng)
            _add_counts(null, shuffled, proposals)
    observed = {
        category: int(in_category(category, labels, blocks.proposals).sum())
        for category in CATEGORIES
    }
    return SeparationControl(observed, null)


def _fewest_blocks(valid_blocks: IntArray) -> int:
    """Return how many mixed blocks it takes at least to separate a message of a problem."""
    return min(
        (fewest_nonzero_blocks(n) for n in valid_blocks.tolist() if n >= 2),
        default=int(valid_blocks.sum()) + 1,
    )


def _shuffled_labels(
    patterns: Sequence[BlockPattern],
    valid_blocks: IntArray,
    blocks: int,
    draws: int,
    rng: np.random.Generator,
) -> Int8Array:
    """Return messages × draws labels of one problem."""
    codes = shuffled_codes(patterns, blocks, draws, rng)
    labels = np.zeros(codes.shape, dtype=np.int8)
    for message, size in enumerate(valid_blocks.tolist()):
        if size >= 2:
            separation_by_code(blocks, size).take(codes[message], out=labels[message])
    return labels


def _add_counts(null: Mapping[str, IntArray], labels: Int8Array, proposals: Int8Array) -> None:
    """Add one problem's labels (messages × draws) to the null counts."""
    for sign in (1, -1):
        reached = labels == sign
        null[SEPARATED][:] += reached.sum(axis=0)
        for cell, (proposal, label) in CELLS.items():
            if label == sign:
                null[cell][:] += reached[proposals == proposal].sum(axis=0)
