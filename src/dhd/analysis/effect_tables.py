"""Message effects of the scan: Tables 3, 4, 8, 9, 10 and Figures 4, 7, 8."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pandas as pd

from dhd.analysis.bootstrap import Interval, cluster_bootstrap_interval, ratio
from dhd.analysis.cells import LOO_RANGE, SIX_CELLS, SIX_COUNTS, Counts
from dhd.analysis.context import POOLED, AnalysisContext, TableFunction
from dhd.analysis.effects import (
    direction_rows,
    effect_shares,
    flip_labels,
    flip_rates,
    non_neutral,
    off_diagonal_rows,
)
from dhd.analysis.frames import PERCENT, Slice, frame_of, key_of, slices
from dhd.messages import POOL_SIZE
from dhd.records.schemas import LOO_SIZES

_KEYS: Final = ("model", "benchmark", "replay", "k")


def table_03(context: AnalysisContext) -> pd.DataFrame:
    """Return in-pool LOO outcomes at K = 5 by model and benchmark (paper Table 3)."""
    counts = _loo_by_k(context)
    return non_neutral(flip_labels(counts[counts["k"] == POOL_SIZE])).drop(columns="replay")


def table_04(context: AnalysisContext) -> pd.DataFrame:
    """Return pooled six-cell counts of both kinds of replay (paper Table 4)."""
    rows: list[dict[str, Any]] = []
    for row in slices(context, benchmarks=False):
        rows.append(_single_row(row))
        rows.append(_loo_row(row))
    return frame_of(rows, (*_KEYS, *SIX_COUNTS))


def table_08(context: AnalysisContext) -> pd.DataFrame:
    """Return six-cell counts of single-message effects by benchmark (paper Table 8)."""
    return frame_of([_single_row(row) for row in slices(context)], (*_KEYS, *SIX_COUNTS))


def table_09(context: AnalysisContext) -> pd.DataFrame:
    """Return the helpful share among wrong-answer flips with its interval (paper Table 9).

    The 95 % interval is in percent and resamples the problems of the headline sample; it is
    blank where nothing flips.
    """
    counts = context.table("table_10", table_10)
    shares = effect_shares(counts, "wrong")
    intervals = [helpful_share_interval(context, row, "wrong") for row in slices(context)]
    return counts[list(_KEYS)].assign(
        wrong_messages_n=shares["messages_n"],
        flips_n=shares["flips_n"],
        helpful_share_pct=shares["helpful_share_pct"],
        ci_low=[interval.low for interval in intervals],
        ci_high=[interval.high for interval in intervals],
        helpful_n=shares["helpful_n"],
    )


def table_10(context: AnalysisContext) -> pd.DataFrame:
    """Return six-cell counts of LOO effects over K = 2…5 by benchmark (paper Table 10)."""
    return frame_of([_loo_row(row) for row in slices(context)], (*_KEYS, *SIX_COUNTS))


def figure_04(context: AnalysisContext) -> pd.DataFrame:
    """Return rate and direction of LOO flips by model and proposal (paper Figure 4).

    The interval is that of the helpful share, in percent.
    """
    counts = context.table("table_10", table_10)
    rows = direction_rows(counts[counts["benchmark"] == POOLED].reset_index(drop=True))
    wrong = context.table("table_09", table_09)
    wrong = wrong[wrong["benchmark"] == POOLED].set_index("model")
    correct = {
        row.model: helpful_share_interval(context, row, "correct")
        for row in slices(context, benchmarks=False)
    }
    for end, side in (("ci_low", "low"), ("ci_high", "high")):
        rows[end] = [
            wrong.loc[model, end] if proposal == "wrong" else getattr(correct[model], side)
            for model, proposal in zip(rows["model"], rows["proposed_answer"], strict=True)
        ]
    return rows


def figure_07(context: AnalysisContext) -> pd.DataFrame:
    """Return the off-diagonal shares by model and benchmark (paper Figure 7)."""
    counts = context.table("table_10", table_10)
    return off_diagonal_rows(counts[counts["benchmark"] != POOLED])


def figure_08(context: AnalysisContext) -> pd.DataFrame:
    """Return LOO flips as percent of labels by model, benchmark and K (paper Figure 8)."""
    return flip_rates(flip_labels(_loo_by_k(context)))


def helpful_share_interval(context: AnalysisContext, row: Slice, proposal: str) -> Interval:
    """Return the 95 % problem-cluster interval of the helpful share among flips, in percent."""
    helpful = SIX_CELLS.index(f"{proposal}_helpful")
    harmful = SIX_CELLS.index(f"{proposal}_harmful")
    sample = row.problems & row.scan.sample.complete
    return cluster_bootstrap_interval(
        row.scan.loo_counts[sample][:, [helpful, harmful]],
        lambda totals: PERCENT * ratio(totals[:, 0], totals.sum(axis=1)),
        resamples=context.settings.bootstrap_resamples,
        rng=context.rng(f"helpful_share/{row.model}/{row.benchmark}/{proposal}"),
    )


def _loo_by_k(context: AnalysisContext) -> pd.DataFrame:
    """Return six-cell counts by model, K and benchmark."""
    found = list(slices(context, pooled=False))
    rows: list[dict[str, Any]] = [
        {**key_of(row), "replay": "loo", "k": k, **_six(row, row.scan.loo_counts_by_k[:, at])}
        for model in context.scans
        for at, k in enumerate(LOO_SIZES)
        for row in found
        if row.model == model
    ]
    return frame_of(rows, (*_KEYS, *SIX_COUNTS))


def _single_row(row: Slice) -> dict[str, Any]:
    return {**key_of(row), "replay": "single", "k": "1", **_six(row, row.scan.single_counts)}


def _loo_row(row: Slice) -> dict[str, Any]:
    return {**key_of(row), "replay": "loo", "k": LOO_RANGE, **_six(row, row.scan.loo_counts)}


def _six(row: Slice, counts: Counts) -> dict[str, int]:
    totals = np.asarray(counts[row.problems].sum(axis=0))
    return dict(zip(SIX_COUNTS, totals.tolist(), strict=True))


TABLES: Final = MappingProxyType[str, TableFunction](
    {
        "table_03": table_03,
        "table_04": table_04,
        "table_08": table_08,
        "table_09": table_09,
        "table_10": table_10,
        "figure_04": figure_04,
        "figure_07": figure_07,
        "figure_08": figure_08,
    }
)
