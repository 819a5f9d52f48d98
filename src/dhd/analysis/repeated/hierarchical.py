"""Mean effects with hierarchical intervals (paper, Table 18).

Problems are resampled within their benchmark, then blocks within every copy of a problem; the
five messages of a copy share its drawn blocks. Effects are multiplied by 2·lcm(1…B), which
makes every sum an exact integer: results do not depend on the order of summation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm
from typing import Final

import numpy as np

from dhd.analysis.bootstrap import Interval, percentile_interval, ratio
from dhd.analysis.repeated.blocks import FloatArray, ReplayBlocks

#: Columns of totals: sum of effects and number of messages, of wrong and of correct ones.
WRONG_SUM, WRONG_N, CORRECT_SUM, CORRECT_N = range(4)
#: Copies of problems whose blocks are drawn at a time.
_CHUNK_COPIES: Final = 400_000


@dataclass(frozen=True, slots=True)
class MeanEffect:
    """A mean of τ̂ over messages, with its 95 % interval (fractions, not percent)."""

    value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class _Category:
    """Problems that no resample can tell apart: the same blocks in any order.

    Messages of one kind that are valid in the same blocks form a *group*.

    Attributes
    ----------
    values
        Groups × blocks: sum of the group's block differences (half units).
    valid
        Groups × blocks: 1 where the group's differences are valid, else 0.
    sizes
        Messages in every group.
    correct
        0 or 1 per group: whether its messages are wrong or correct.
    """

    values: FloatArray
    valid: FloatArray
    sizes: FloatArray
    correct: tuple[int, ...]

    def totals(self, drawn: FloatArray, scale: int) -> FloatArray:
        """Return the totals of every copy: copies × 4.

        ``drawn`` is blocks × copies: how often each block was drawn. A message's effect in a
        copy is its mean over valid drawn blocks; without one it drops out of both totals.
        """
        sums, blocks = self.values @ drawn, self.valid @ drawn
        result = np.zeros((drawn.shape[1], 4))
        for group, correct in enumerate(self.correct):
            some = blocks[group] > 0
            effects = np.zeros(len(some))
            np.divide(scale * sums[group], blocks[group], out=effects, where=some)
            result[:, WRONG_SUM + 2 * correct] += effects
            result[:, WRONG_N + 2 * correct] += self.sizes[group] * some
        return result

    @property
    def constant(self) -> bool:
        """Whether every draw of blocks gives the same totals."""
        return bool(self.valid.all() and (self.values == self.values[:, :1]).all())


def stratum_totals(blocks: ReplayBlocks) -> FloatArray:
    """Return the four totals of a study as observed (scaled, see the module)."""
    scale = _scale(blocks)
    once = np.ones((blocks.block_count, 1))
    totals = np.zeros(4)
    for category, size in _categories(blocks):
        totals += size * category.totals(once, scale)[0]
    return totals


def resampled_totals(blocks: ReplayBlocks, resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return the four totals of every hierarchical resample of one stratum.

    Parameters
    ----------
    blocks
        The problems of one benchmark.
    resamples
        Number of resamples.
    rng
        Source of randomness.

    Returns
    -------
    Resamples × 4 (scaled, see the module). Totals of strata add up to those of the pooled
    stratified resample.
    """
    categories = _categories(blocks)
    sizes = np.array([size for _, size in categories], dtype=np.float64)
    totals = np.zeros((resamples, 4))
    chunk = max(1, _CHUNK_COPIES // max(1, blocks.problem_count))
    for start in range(0, resamples, chunk):
        part = totals[start : start + chunk]
        copies = rng.multinomial(blocks.problem_count, sizes / sizes.sum(), size=len(part))
        for (category, _), count in zip(categories, copies.T, strict=True):
            part += _category_totals(category, count, _scale(blocks), rng)
    return totals


def mean_effects(
    totals: FloatArray, resampled: FloatArray, block_count: int
) -> dict[str, MeanEffect]:
    """Return the message-weighted means ``wrong``, ``correct`` and ``correct_minus_wrong``.

    Parameters
    ----------
    totals, resampled
        Sums over strata of :func:`stratum_totals` and :func:`resampled_totals`.
    block_count
        Blocks of the study, B.
    """
    unit = 2 * lcm(*range(1, block_count + 1))
    observed, drawn = _means(totals[None, :], unit), _means(resampled, unit)
    return {
        name: MeanEffect(float(observed[name][0]), percentile_interval(drawn[name]))
        for name in observed
    }


def _means(totals: FloatArray, unit: int) -> dict[str, FloatArray]:
    wrong = ratio(totals[:, WRONG_SUM], totals[:, WRONG_N]) / unit
    correct = ratio(totals[:, CORRECT_SUM], totals[:, CORRECT_N]) / unit
    return {"wrong": wrong, "correct": correct, "correct_minus_wrong": correct - wrong}


def _scale(blocks: ReplayBlocks) -> int:
    return lcm(*range(1, blocks.block_count + 1))


def _category_totals(
    category: _Category, copies: np.ndarray, scale: int, rng: np.random.Generator
) -> FloatArray:
    """Return resamples × 4 totals when a category is drawn ``copies`` times in each."""
    blocks = category.values.shape[1]
    if category.constant:
        once = category.totals(np.ones((blocks, 1)), scale)
        return copies[:, None] * once
    drawn = rng.integers(blocks, size=(blocks, int(copies.sum())), dtype=np.uint8)
    counts = np.stack([(drawn == block).sum(axis=0, dtype=np.uint8) for block in range(blocks)])
    of_copies = category.totals(counts.astype(np.float64), scale)
    resample = np.repeat(np.arange(len(copies)), copies)
    return np.stack(
        [np.bincount(resample, column, minlength=len(copies)) for column in of_copies.T], axis=1
    )


def _categories(blocks: ReplayBlocks) -> Sequence[tuple[_Category, int]]:
    """Return the distinct categories of problems and how many problems each has."""
    found: dict[object, tuple[_Category, int]] = {}
    for problem in range(blocks.problem_count):
        category = _category(blocks, problem)
        key = (
            category.values.tobytes(),
            category.valid.tobytes(),
            category.sizes.tobytes(),
            category.correct,
        )
        size = found[key][1] if key in found else 0
        found[key] = (category, size + 1)
    return list(found.values())


def _category(blocks: ReplayBlocks, problem: int) -> _Category:
    valid, differences = blocks.valid[problem].T, blocks.differences[problem].T
    groups: dict[tuple[int, bytes], list[int]] = {}
    for message, proposal in enumerate(blocks.proposals[problem].tolist()):
        if proposal in (0, 1) and valid[message].any():
            groups.setdefault((proposal, valid[message].tobytes()), []).append(message)
    keys = sorted(groups)
    values = np.array([differences[groups[key]].sum(axis=0) for key in keys], dtype=np.float64)
    masks = np.array([valid[groups[key][0]] for key in keys], dtype=np.float64)
    values, masks = (rows.reshape(len(keys), blocks.block_count) for rows in (values, masks))
    order = np.lexsort(np.concatenate([values, masks])) if keys else slice(None)
    return _Category(
        values=np.ascontiguousarray(values[:, order]),
        valid=np.ascontiguousarray(masks[:, order]),
        sizes=np.array([len(groups[key]) for key in keys], dtype=np.float64),
        correct=tuple(proposal for proposal, _ in keys),
    )
