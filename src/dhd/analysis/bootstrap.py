"""Cluster bootstrap over problems, from per-problem sufficient counts.

All statistics of the paper that are bootstrapped depend on a resample of problems only
through sums of per-problem counts. Problems with equal count vectors are therefore one
category of a multinomial distribution: the resampled sums have the same distribution as if
problems were drawn one by one, at the cost of a draw per category instead of per problem.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dhd.analysis.settings import AnalysisSettings

FloatArray = npt.NDArray[np.float64]

#: Percentiles of the 95 % interval.
LEVELS: Final = (2.5, 97.5)
#: Weights held in memory at a time (8 bytes each).
_CHUNK_WEIGHTS: Final = 4_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval in the unit of its statistic; both ends NaN when there is none."""

    low: float
    high: float


def rng_for(settings: AnalysisSettings, label: str) -> np.random.Generator:
    """Return the random generator of one statistic.

    It depends on the configured seed and the label alone, so that no table depends on which
    others are computed, or in which order.
    """
    return np.random.default_rng([settings.seed, zlib.crc32(label.encode("utf-8"))])


def resampled_totals(counts: npt.ArrayLike, resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return the column sums of ``counts`` over resampled problems.

    Parameters
    ----------
    counts
        Problems × statistics. Integer values make the sums exact, hence independent of the
        order of summation: scale fractions to integers.
    resamples
        Number of resamples; each draws as many problems as there are, with replacement.
    rng
        Source of randomness.

    Returns
    -------
    Resamples × statistics.

    Raises
    ------
    ValueError
        When ``counts`` is not two-dimensional or ``resamples`` is not positive.
    """
    rows = np.asarray(counts, dtype=np.float64)
    _check(rows, resamples)
    problems = rows.shape[0]
    totals = np.zeros((resamples, rows.shape[1]))
    if problems == 0:
        return totals
    categories, sizes = np.unique(rows, axis=0, return_counts=True)
    # The largest category comes last: numpy draws one binomial fewer than there are categories.
    order = np.argsort(sizes, kind="stable")
    categories, probabilities = categories[order], sizes[order] / problems
    chunk = max(1, _CHUNK_WEIGHTS // len(categories))
    for start in range(0, resamples, chunk):
        stop = min(start + chunk, resamples)
        weights = rng.multinomial(problems, probabilities, size=stop - start)
        totals[start:stop] = weights.astype(np.float64) @ categories
    return totals


def _check(rows: FloatArray, resamples: int) -> None:
    if rows.ndim != 2:
        raise ValueError(f"counts must be problems × statistics, not of shape {rows.shape}")
    if resamples < 1:
        raise ValueError(f"resamples must be positive, not {resamples}")


def percentile_interval(values: npt.ArrayLike) -> Interval:
    """Return the percentile interval of resampled values; NaN values are dropped.

    Quantiles interpolate linearly. Without any value there is no interval.
    """
    array = np.asarray(values, dtype=np.float64)
    kept = array[~np.isnan(array)]
    if kept.size == 0:
        return Interval(np.nan, np.nan)
    low, high = np.percentile(kept, LEVELS)
    return Interval(float(low), float(high))


def cluster_bootstrap_interval(
    counts: npt.ArrayLike,
    statistic: Callable[[FloatArray], npt.NDArray[Any]],
    *,
    resamples: int,
    rng: np.random.Generator,
) -> Interval:
    """Return the 95 % percentile interval of a statistic under resampling of problems.

    Parameters
    ----------
    counts
        Problems × statistics: what each problem adds to every sum the statistic needs.
    statistic
        Maps sums (resamples × statistics) to values (resamples); NaN where it is undefined,
        which drops the resample.
    resamples, rng
        As in :func:`resampled_totals`.
    """
    return percentile_interval(statistic(resampled_totals(counts, resamples, rng)))


def ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> FloatArray:
    """Return the elementwise quotient, NaN where the denominator is zero."""
    top, bottom = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    result = np.full(top.shape, np.nan)
    np.divide(top, bottom, out=result, where=bottom != 0)
    return result
