"""Cohen's κ of two raters."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
from statsmodels.stats.inter_rater import cohens_kappa

Weights = Literal["linear", "quadratic"]


def confusion(
    first: npt.ArrayLike, second: npt.ArrayLike, categories: tuple[int, ...]
) -> npt.NDArray[np.int64]:
    """Return how often two raters gave each pair of categories: first × second.

    Categories are integers in ascending order; every rating must be one of them.
    """
    labels = np.asarray(categories)
    rows = np.searchsorted(labels, np.asarray(first, dtype=np.int64))
    columns = np.searchsorted(labels, np.asarray(second, dtype=np.int64))
    table = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(table, (rows, columns), 1)
    return table


def kappa(table: npt.NDArray[np.int64], weights: Weights | None = None) -> float:
    """Return Cohen's κ of a confusion table; NaN where chance alone agrees fully.

    Parameters
    ----------
    table
        Square counts, categories in order.
    weights
        None for the plain κ, else how disagreement grows with the distance of categories.
    """
    occupied = (table.sum(axis=0) > 0) | (table.sum(axis=1) > 0)
    if occupied.sum() < 2:
        # One category in both ratings, or no rating: κ is 0/0.
        return float("nan")
    return float(cohens_kappa(table, wt=weights, return_results=False))
