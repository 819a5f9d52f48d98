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
from dhd.analysis.repeated.blocks import FloatArray, IntArray, ReplayBlocks

#: Columns of totals: sum of effects and number of messages, of wrong and of correct ones.
WRONG_SUM, WRONG_N, CORRECT_SUM, CORRECT_N = range(4)
#: Problems, and copies of one category with their blocks, drawn at a time.
_CHUNK_PROBLEMS: Final = 4_000_000
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
        """Return the totals of every copy: 4 × copies.

        ``drawn`` is blocks × copies: how often each block was drawn. A message's effect in a
        copy is its mean over valid drawn blocks; without one it drops out of both totals.
        """
        sums, blocks = self.values @ drawn, self.valid @ drawn
        some = blocks > 0
        effects = scale * sums / np.maximum(blocks, 1)
        result = np.zeros((4, drawn.shape[1]))
        for group, correct in enumerate(self.correct):
            result[WRONG_SUM + 2 * correct] += effects[group]
            result[WRONG_N + 2 * correct] += self.sizes[group] * some[group]
        return result

    @property
    def varies(self) -> bool:
        """Whether draws of blocks differ in their totals."""
        return not (self.valid.all() and (self.values == self.values[:, :1]).all())


def stratum_totals(blocks: ReplayBlocks) -> FloatArray:
    """Return the four totals of a study as observed (scaled, see the module)."""
    scale = _scale(blocks)
    once = np.ones((blocks.block_count, 1))
    totals = np.zeros(4)
    categories, category_of = _categories(blocks)
    for category, size in zip(categories, np.bincount(category_of), strict=True):
        totals += size * category.totals(once, scale)[:, 0]
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
    categories, category_of = _categories(blocks)
    scale = _scale(blocks)
    totals = np.zeros((resamples, 4))
    chunk = _chunk_size(categories, category_of)
    for start in range(0, resamples, chunk):
        part = totals[start : start + chunk]
        copies = _drawn_copies(category_of, len(categories), len(part), rng)
        for category, count in zip(categories, copies, strict=True):
            part += _category_totals(category, count, scale, rng)
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


def _chunk_size(categories: Sequence[_Category], category_of: IntArray) -> int:
    """Return how many resamples to draw at a time, so that memory stays bounded."""
    sizes = np.bincount(category_of, minlength=len(categories))
    varying = [size for category, size in zip(categories, sizes, strict=True) if category.varies]
    largest = max(varying, default=1)
    return max(1, min(_CHUNK_PROBLEMS // max(1, len(category_of)), _CHUNK_COPIES // int(largest)))


def _drawn_copies(
    category_of: IntArray, categories: int, resamples: int, rng: np.random.Generator
) -> IntArray:
    """Return categories × resamples: copies when problems are drawn with replacement."""
    problems = len(category_of)
    drawn = category_of.take(rng.integers(problems, size=(resamples, problems)))
    # One row of counters a resample: they stay in the processor's cache.
    drawn += categories * np.arange(resamples)[:, None]
    counts = np.bincount(drawn.reshape(-1), minlength=categories * resamples)
    return np.ascontiguousarray(counts.reshape(resamples, categories).T)


def _category_totals(
    category: _Category, copies: IntArray, scale: int, rng: np.random.Generator
) -> FloatArray:
    """Return resamples × 4 totals when a category is drawn ``copies`` times in each."""
    blocks = category.values.shape[1]
    if not category.varies:
        return copies[:, None] * category.totals(np.ones((blocks, 1)), scale).T
    drawn = rng.integers(blocks, size=(blocks, int(copies.sum())), dtype=np.uint8)
    counts = np.empty(drawn.shape)
    for block in range(blocks):
        counts[block] = (drawn == block).sum(axis=0, dtype=np.uint8)
    of_copies = category.totals(counts, scale)
    resample = np.repeat(np.arange(len(copies)), copies)
    totals = np.empty((len(copies), 4))
    for column in range(4):
        totals[:, column] = np.bincount(resample, of_copies[column], minlength=len(copies))
    return totals


def _categories(blocks: ReplayBlocks) -> tuple[Sequence[_Category], IntArray]:
    """Return the distinct categories of problems, and the category of every problem."""
    found: dict[object, int] = {}
    categories: list[_Category] = []
    category_of = np.empty(blocks.problem_count, dtype=np.int64)
    for problem in range(blocks.problem_count):
        category = _category(blocks, problem)
        key = (
            category.values.tobytes(),
            category.valid.tobytes(),
            category.sizes.tobytes(),
            category.correct,
        )
        category_of[problem] = found.setdefault(key, len(categories))
        if category_of[problem] == len(categories):
            categories.append(category)
    return categories, category_of


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
