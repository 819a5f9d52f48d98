"""Shuffled controls of the cross-fitted gain (paper, Appendix I, Table 26).

*All actions* permutes the six outcomes of a problem-block (one full-pool replicate and five
removals); *removal identity* keeps the full outcome fixed and permutes the five removals. A
block with six equal outcomes adds the same to every action in every shuffle: it changes no
choice and gains nothing, and is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from dhd.analysis.repeated.blocks import Int8Array, IntArray
from dhd.analysis.repeated.crossfit import cross_fit

Control = Literal["all_action", "removal_identity"]
CONTROLS: Final[tuple[Control, ...]] = ("all_action", "removal_identity")
_ACTIONS: Final = 6


@dataclass(frozen=True, slots=True)
class CrossFitControl:
    """Summed gains over all folds, in successes: observed and under shuffled actions.

    Attributes
    ----------
    observed
        Sum of the gains of all folds.
    null
        The same for every shuffled data set.
    folds
        Number of folds; divides a sum into a mean gain.
    """

    observed: int
    null: IntArray
    folds: int

    @property
    def gain(self) -> float:
        """Mean observed gain (fraction)."""
        return self.observed / self.folds

    @property
    def null_range(self) -> tuple[float, float]:
        """Linear 2.5 and 97.5 percentiles of the mean null gain."""
        low, high = np.percentile(self.null / self.folds, (2.5, 97.5))
        return float(low), float(high)

    @property
    def null_maximum(self) -> float:
        """Largest mean null gain."""
        return int(self.null.max()) / self.folds

    @property
    def p_value(self) -> float:
        """(1 + shuffles with at least the observed gain) / (1 + shuffles), compared exactly."""
        return (1 + int((self.null >= self.observed).sum())) / (1 + len(self.null))


def crossfit_control(
    scores: IntArray, control: Control, draws: int, rng: np.random.Generator
) -> CrossFitControl:
    """Rerun the cross-fit on shuffled actions.

    Parameters
    ----------
    scores
        Problems × blocks × 6 binary scores of one arm; action 0 keeps all.
    control
        Which actions are shuffled within each problem-block.
    draws
        Number of shuffled data sets (paper: 2,000).
    rng
        Source of randomness.

    Raises
    ------
    ValueError
        When there is no problem, or a score is not 0 or 1.
    """
    if scores.shape[0] == 0 or not np.isin(scores, (0, 1)).all():
        raise ValueError("scores must be the 0/1 scores of at least one problem")
    binary = scores.astype(np.int8)
    mixed = binary.min(axis=2) != binary.max(axis=2)
    null = np.zeros(draws, dtype=np.int64)
    for problem in np.flatnonzero(mixed.sum(axis=1) > 1):
        null += _shuffled_gains(binary[problem, mixed[problem]], control, draws, rng)
    observed = int(cross_fit(scores, unit=1).gains.sum())
    return CrossFitControl(observed, null, folds=mixed.size)


def _shuffled_gains(
    blocks: Int8Array, control: Control, draws: int, rng: np.random.Generator
) -> IntArray:
    """Return the summed gain of one problem's mixed blocks in every shuffle."""
    count = len(blocks)
    best = _best_action(count)
    gains = _gain_of()
    patterns = np.empty((count, draws), dtype=np.int64)
    for row, block in zip(patterns, blocks, strict=True):
        table = _arrangements(int(block[0]), int(block[1:].sum()), control)
        row[:] = table.take(rng.integers(len(table), size=draws))
    codes = _codes(count).take(patterns)
    choices = best.take(codes.sum(axis=0) - codes)
    result: IntArray = gains.take(_ACTIONS * patterns + choices).sum(axis=0, dtype=np.int64)
    return result


@lru_cache(maxsize=64)
def _arrangements(keep: int, removed: int, control: Control) -> IntArray:
    """Return the equally likely action patterns of a block; bit a is the score of action a."""
    if control == "all_action":
        chosen = combinations(range(_ACTIONS), keep + removed)
        return np.array([sum(1 << action for action in subset) for subset in chosen])
    chosen = combinations(range(1, _ACTIONS), removed)
    return np.array([keep + sum(1 << action for action in subset) for subset in chosen])


@lru_cache(maxsize=8)
def _codes(blocks: int) -> IntArray:
    """Return every pattern as a number whose digits (base ``blocks``) are its bits.

    Codes of all blocks but one add up to the score sums over those blocks, without a carry.
    """
    return _bits() @ blocks ** np.arange(_ACTIONS)


@lru_cache(maxsize=8)
def _best_action(blocks: int) -> Int8Array:
    """Return the first action with the largest digit, for every code in base ``blocks``."""
    best = np.zeros((blocks,) * _ACTIONS, dtype=np.int8)
    highest = np.zeros_like(best)
    digits = np.arange(blocks, dtype=np.int8)
    for action in range(_ACTIONS):
        # The last axis is the digit of weight 1, which belongs to action 0.
        digit = digits.reshape([-1 if axis == _ACTIONS - 1 - action else 1 for axis in range(6)])
        better = digit > highest
        best = np.where(better, np.int8(action), best)
        highest = np.maximum(highest, digit)
    return best.reshape(-1)


@lru_cache(maxsize=1)
def _gain_of() -> Int8Array:
    """Return, at 6·pattern + action, the action's score minus that of keeping all."""
    bits = _bits().astype(np.int8)
    return (bits - bits[:, :1]).reshape(-1)


@lru_cache(maxsize=1)
def _bits() -> npt.NDArray[np.int64]:
    """Return patterns × actions: the score of each action in each of the 64 patterns."""
    return (np.arange(1 << _ACTIONS)[:, None] >> np.arange(_ACTIONS)) & 1
