"""Benjamini–Hochberg and Benjamini–Yekutieli selection."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
from statsmodels.stats.multitest import multipletests

from dhd.analysis.repeated.blocks import BoolArray

Correction = Literal["bh", "by"]
_NAMES = {"bh": "fdr_bh", "by": "fdr_by"}


def selected(p_values: npt.ArrayLike, correction: Correction, rate: float) -> BoolArray:
    """Return which hypotheses a correction keeps at a false discovery rate.

    Parameters
    ----------
    p_values
        Any shape; all of them form one family.
    correction
        ``bh`` controls the rate under independence or positive dependence, ``by`` under any.
    rate
        The q of the paper, .05.
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.size == 0:
        return np.zeros(p.shape, dtype=np.bool_)
    rejected = multipletests(p.reshape(-1), alpha=rate, method=_NAMES[correction])[0]
    return np.asarray(rejected, dtype=np.bool_).reshape(p.shape)
