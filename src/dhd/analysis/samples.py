"""Which problems the leave-one-out analysis counts (paper Table 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhd.records.schemas import LOO_SIZES

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class LooSample:
    """The leave-one-out sample of one model; n problems.

    Attributes
    ----------
    loo_eligible
        Problems whose pool qualifies.
    complete
        Eligible problems with every outcome that their eligible messages need at K = 2…5.
    partial
        Eligible problems that are not complete.
    missing_pairs
        Per problem, its eligible (K, i) pairs with a missing side; 0 where not eligible.
    """

    loo_eligible: BoolArray
    complete: BoolArray
    partial: BoolArray
    missing_pairs: npt.NDArray[np.int64]


def loo_sample(
    eligible: BoolArray,
    full: npt.NDArray[np.int8],
    removal: npt.NDArray[np.int8],
    *,
    complete_pool: bool,
) -> LooSample:
    """Return the leave-one-out sample.

    Parameters
    ----------
    eligible
        Whether each message is eligible; n × 5.
    full
        Judgements of the prefixes of size 1…5, -1 where missing; n × 5.
    removal
        Judgements without message i at K = 2…5, -1 where missing; n × 4 × 5.
    complete_pool
        Whether a problem qualifies only with all five messages eligible (Gemma in the paper),
        or with at least one.
    """
    qualifies = np.asarray(eligible.all(axis=1) if complete_pool else eligible.any(axis=1))
    missing = np.zeros(len(eligible), dtype=np.int64)
    for position, k in enumerate(LOO_SIZES):
        lost = (removal[:, position, :k] < 0) | (full[:, k - 1, None] < 0)
        missing += (lost & eligible[:, :k]).sum(axis=1)
    missing[~qualifies] = 0
    return LooSample(
        loo_eligible=qualifies,
        complete=qualifies & (missing == 0),
        partial=qualifies & (missing > 0),
        missing_pairs=missing,
    )
