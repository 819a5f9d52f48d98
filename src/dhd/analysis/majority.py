"""Whether the integrator merely follows the majority of its pool: Table 7."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dhd.analysis.cells import ModelScan
from dhd.analysis.context import POOLED, AnalysisContext, TableFunction
from dhd.analysis.frames import frame_of, key_of, percent, slices
from dhd.analysis.signatures import CORRECT, answer_codes, sizes_of_agreement
from dhd.messages import POOL_SIZE

#: Messages that make a majority of five.
MAJORITY: Final = POOL_SIZE // 2 + 1
_COUNTS: Final = (
    "problems_n",
    "majority_correct_n",
    "integrator_correct_n",
    "integrator_only_n",
    "majority_only_n",
    "strict_majority_n",
    "followed_n",
)


def table_07(context: AnalysisContext) -> pd.DataFrame:
    """Return the pooled majority diagnostic at K = 5 (paper Table 7)."""
    counts = majority_counts(context)
    return majority_rates(counts[counts["benchmark"] == POOLED].reset_index(drop=True))


def majority_counts(context: AnalysisContext) -> pd.DataFrame:
    """Return the counts behind Table 7 by model and benchmark, pooled rows included.

    Problems count that have five judged proposals and a judged outcome at K = 5.
    """
    marks = {model: _marks(scan) for model, scan in context.require_scans().items()}
    rows: list[dict[str, Any]] = [
        {
            **key_of(row),
            "k": POOL_SIZE,
            **{name: int((marks[row.model][name] & row.problems).sum()) for name in _COUNTS},
        }
        for row in slices(context)
    ]
    return frame_of(rows, ("model", "benchmark", "k", *_COUNTS))


def majority_rates(counts: pd.DataFrame) -> pd.DataFrame:
    """Add the rates of Table 7 to the counts of :func:`majority_counts`."""
    return counts.assign(
        majority_correct_pct=percent(counts["majority_correct_n"], counts["problems_n"]),
        integrator_accuracy_pct=percent(counts["integrator_correct_n"], counts["problems_n"]),
        follow_rate_pct=percent(counts["followed_n"], counts["strict_majority_n"]),
    )


def _marks(scan: ModelScan) -> dict[str, npt.NDArray[np.bool_]]:
    """Mark the problems that each count of Table 7 counts."""
    judged = (scan.proposal_correct >= 0).all(axis=1) & (scan.full[:, -1] >= 0)
    integrator = scan.full[:, -1] == 1
    majority = (scan.proposal_correct == 1).sum(axis=1) >= MAJORITY
    strict, followed = _agreement(scan)
    return {
        "problems_n": judged,
        "majority_correct_n": judged & majority,
        "integrator_correct_n": judged & integrator,
        "integrator_only_n": judged & integrator & ~majority,
        "majority_only_n": judged & ~integrator & majority,
        "strict_majority_n": judged & strict,
        "followed_n": judged & strict & followed,
    }


def _agreement(scan: ModelScan) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Mark the problems with three equal signatures, and those whose integrator shares them.

    Correct answers share one signature; wrong ones are compared as normalised texts.
    """
    answers = np.concatenate([scan.proposed_answer, scan.full_answer[:, None]], axis=1)
    correct = np.concatenate([scan.proposal_correct, scan.full[:, -1:]], axis=1) == 1
    signatures = np.where(correct, CORRECT, answer_codes(answers))
    messages, integrator = signatures[:, :-1], signatures[:, -1]
    in_majority = sizes_of_agreement(messages) >= MAJORITY
    followed = (in_majority & (messages == integrator[:, None])).any(axis=1)
    return np.asarray(in_majority.any(axis=1)), np.asarray(followed)


TABLES: Final = MappingProxyType[str, TableFunction]({"table_07": table_07})
