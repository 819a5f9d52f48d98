"""Which messages are separated: the exact percentile bootstrap of a block mean.

With n blocks the nonparametric bootstrap has n^n equally likely resamples. The distribution
of a resample's sum depends on the observed differences only through how often each of the
five values −2…2 (half units) occurs, and is the n-th power of their counting polynomial.
All of it is integer arithmetic: no seed and no rounding (paper, Appendix G, Table 17).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dhd.analysis.repeated.blocks import BoolArray, Int8Array, IntArray

#: Values of a block difference in half units, in the order of count vectors.
VALUES: Final = (-2, -1, 0, 1, 2)
#: The interval leaves 1/40 of the resamples on either side.
_TAIL: Final = 40
_ZERO: Final = VALUES.index(0)


def bootstrap_bounds(counts: npt.ArrayLike) -> tuple[IntArray, IntArray]:
    """Return the exact 95 % percentile bootstrap interval of each block sum.

    Parameters
    ----------
    counts
        Messages × 5: how many of a message's n valid blocks have difference −2, −1, 0, 1, 2
        (half units). Every row must have the same sum n ≥ 1.

    Returns
    -------
    low, high
        Per message, in half units of the block *sum*: the smallest v whose share of the n^n
        resamples with sum ≤ v is at least .025, and at least .975. Divide by 2n for τ̂.

    Raises
    ------
    ValueError
        When the rows have different sums, or no blocks.
    """
    rows = np.atleast_2d(np.asarray(counts, dtype=np.int64))
    sizes = np.unique(rows.sum(axis=1))
    if rows.shape[1] != len(VALUES) or sizes.size != 1 or sizes[0] < 1:
        raise ValueError(f"counts must be rows of {len(VALUES)} with one positive sum: {counts!r}")
    blocks = int(sizes[0])
    resamples = blocks**blocks
    ways: npt.NDArray[Any] = np.ones((len(rows), 1), dtype=np.int64)
    if _TAIL * resamples > np.iinfo(np.int64).max:
        ways = ways.astype(np.object_)
    for _ in range(blocks):
        width = ways.shape[1]
        longer = np.zeros((len(rows), width + len(VALUES) - 1), dtype=ways.dtype)
        for shift in range(len(VALUES)):
            longer[:, shift : shift + width] += rows[:, shift, None] * ways
        ways = longer
    scaled = _TAIL * np.cumsum(ways, axis=1)
    lowest_sum = VALUES[0] * blocks
    low = np.argmax(scaled >= resamples, axis=1) + lowest_sum
    high = np.argmax(scaled >= (_TAIL - 1) * resamples, axis=1) + lowest_sum
    return low, high


def separation_of_counts(counts: npt.ArrayLike) -> Int8Array:
    """Return +1 (interval above zero), −1 (below), or 0 for each row of :func:`bootstrap_bounds`.

    Fewer than two blocks never separate.
    """
    rows = np.atleast_2d(np.asarray(counts, dtype=np.int64))
    if rows[0].sum() < 2:
        return np.zeros(len(rows), dtype=np.int8)
    low, high = bootstrap_bounds(rows)
    return (low > 0).astype(np.int8) - (high < 0).astype(np.int8)


def separation(differences: Int8Array, valid: BoolArray) -> Int8Array:
    """Return the label of every message: +1 helpful, −1 harmful, 0 indeterminate.

    Parameters
    ----------
    differences, valid
        Problems × blocks × messages, as in :class:`~dhd.analysis.repeated.blocks.ReplayBlocks`.

    Returns
    -------
    Problems × messages.
    """
    counts = np.stack([((differences == value) & valid).sum(axis=1) for value in VALUES], axis=-1)
    flat = counts.reshape(-1, len(VALUES))
    patterns, inverse = np.unique(flat, axis=0, return_inverse=True)
    labels = np.zeros(len(patterns), dtype=np.int8)
    sizes = patterns.sum(axis=1)
    for size in np.unique(sizes[sizes >= 2]):
        labels[sizes == size] = separation_of_counts(patterns[sizes == size])
    return labels[inverse.reshape(-1)].reshape(counts.shape[:-1])


def code_weights(blocks: int) -> IntArray:
    """Return what one block of each difference adds to a message's *code*.

    A code is a message's count vector as one number: the digits, base B + 1, are the counts
    of −2, −1, 1 and 2. Codes of blocks add up to the code of the message.
    """
    base = blocks + 1
    return np.array([1, base, 0, base**2, base**3], dtype=np.int64)


@lru_cache(maxsize=64)
def separation_by_code(blocks: int, valid_blocks: int) -> Int8Array:
    """Return the label of every code of a message with ``valid_blocks`` of ``blocks`` valid.

    Codes that no such message can have are labelled 0. Read-only; shared between callers.
    """
    table = np.zeros((blocks + 1) ** 4, dtype=np.int8)
    counts = _count_vectors(valid_blocks)
    table[counts @ code_weights(blocks)] = separation_of_counts(counts)
    table.setflags(write=False)
    return table


@lru_cache(maxsize=64)
def sum_by_code(blocks: int) -> npt.NDArray[np.int16]:
    """Return the sum of block differences (half units) of every code; read-only."""
    digits = np.indices((blocks + 1,) * 4, dtype=np.int16).reshape(4, -1)
    # np.indices varies its last axis fastest, which is the digit of weight 1.
    table = np.asarray(2 * digits[0] + digits[1] - digits[2] - 2 * digits[3], dtype=np.int16)
    table.setflags(write=False)
    return table


def fewest_nonzero_blocks(valid_blocks: int) -> int:
    """Return how many nonzero differences a message needs at least to be separated.

    With k of n differences nonzero, ((n − k)/n)^n of the resamples have sum 0 for certain; the
    interval excludes zero only when that is no more than 1/40.
    """
    resamples = valid_blocks**valid_blocks
    return next(
        k
        for k in range(valid_blocks + 1)
        if _TAIL * (valid_blocks - k) ** valid_blocks <= resamples
    )


def _count_vectors(total: int) -> IntArray:
    """Return all vectors of five non-negative counts with the given sum."""
    grid = np.indices((total + 1,) * 4).reshape(4, -1).T
    grid = grid[grid.sum(axis=1) <= total]
    rest = total - grid.sum(axis=1)
    return np.column_stack([grid[:, :_ZERO], rest, grid[:, _ZERO:]]).astype(np.int64)
