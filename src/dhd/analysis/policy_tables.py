"""Offline diagnostics of selection and integration: Tables 13, 14, 15 and 16."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dhd.analysis.bootstrap import Interval, percentile_interval, ratio, resampled_totals
from dhd.analysis.cells import Counts
from dhd.analysis.context import AnalysisContext, TableFunction
from dhd.analysis.frames import PERCENT, Slice, frame_of, key_of, percent_of, slices
from dhd.analysis.policies import (
    BEST,
    CONFIDENCE,
    CONSENSUS,
    CORRECTNESS,
    POLICIES,
    RANDOM,
    UNIT,
    PolicyValues,
    offline_sample,
    policy_values,
)

#: The contrasts of Table 15: first policy minus second.
CONTRASTS: Final = MappingProxyType(
    {
        "correctness_minus_random": (CORRECTNESS, RANDOM),
        "consensus_minus_random": (CONSENSUS, RANDOM),
        "confidence_minus_random": (CONFIDENCE, RANDOM),
        "best_recorded_minus_correctness": (BEST, CORRECTNESS),
    }
)
_SUCCESSES: Final = (
    "shared_success_n",
    "observable_interference_n",
    "observable_synergy_n",
    "shared_failure_n",
)


def table_13(context: AnalysisContext) -> pd.DataFrame:
    """Return single-message success against full-pool success (paper Table 13)."""
    rows: list[dict[str, Any]] = []
    for row in slices(context):
        problems = offline_sample(row.scan) & row.problems
        some = (row.scan.single == 1).any(axis=1)
        full = row.scan.full[:, -1] == 1
        marks = (some & full, some & ~full, ~some & full, ~some & ~full)
        counts = [int((mark & problems).sum()) for mark in marks]
        rows.append(
            {
                **key_of(row),
                "problems_n": int(problems.sum()),
                **dict(zip(_SUCCESSES, counts, strict=True)),
            }
        )
    return frame_of(rows, ("model", "benchmark", "problems_n", *_SUCCESSES))


def table_14(context: AnalysisContext) -> pd.DataFrame:
    """Return budget-one accuracy and message counts of every policy (paper Table 14)."""
    rows: list[dict[str, Any]] = []
    for row in slices(context, benchmarks=False):
        values = _values(context, row)
        n = len(values.problems)
        best = int(values.accuracy[BEST].sum())
        for policy in POLICIES:
            accuracy = int(values.accuracy[policy].sum())
            rows.append(
                {
                    **key_of(row),
                    "policy": policy,
                    "accuracy_pct": percent_of(accuracy, UNIT * n),
                    "helpful_discarded_per_problem": _mean(values.helpful_discarded[policy]),
                    "harmful_admitted_per_problem": _mean(values.harmful_admitted[policy]),
                    "best_recorded_gap_pp": percent_of(best - accuracy, UNIT * n),
                    "problems_n": n,
                }
            )
    measures = (
        "accuracy_pct",
        "helpful_discarded_per_problem",
        "harmful_admitted_per_problem",
        "best_recorded_gap_pp",
        "problems_n",
    )
    return frame_of(rows, ("model", "benchmark", "policy", *measures))


def table_15(context: AnalysisContext) -> pd.DataFrame:
    """Return pooled policy contrasts with paired 95 % intervals (paper Table 15)."""
    return _contrast_table(context, list(slices(context, benchmarks=False)))


def table_15_by_benchmark(context: AnalysisContext) -> pd.DataFrame:
    """Return the contrasts of Table 15 in every benchmark–model cell."""
    return _contrast_table(context, list(slices(context, pooled=False)))


def table_16(context: AnalysisContext) -> pd.DataFrame:
    """Return where the gap from correctness oracle to best recorded comes from (Table 16)."""
    rows: list[dict[str, Any]] = []
    for row in slices(context, benchmarks=False):
        values = _values(context, row)
        gap = values.oracle_gap
        sources = {
            "wrong_only_successful_route": values.wrong_only,
            "mixed_correct_outcomes": values.mixed,
        }
        for source, problems in sources.items():
            counted = problems & (gap > 0)
            part = int(gap[counted].sum())
            rows.append(
                {
                    **key_of(row),
                    "gap_source": source,
                    "problems_n": int(counted.sum()),
                    "contribution_pp": percent_of(part, UNIT * len(gap)),
                    "share_pct": percent_of(part, int(gap.sum())),
                }
            )
    measures = ("problems_n", "contribution_pp", "share_pct")
    return frame_of(rows, ("model", "benchmark", "gap_source", *measures))


def _contrast_table(context: AnalysisContext, found: list[Slice]) -> pd.DataFrame:
    parts = [_contrasts(context, row) for row in found]
    rows = [part[contrast] for contrast in CONTRASTS for part in parts]
    measures = ("difference_pp", "ci_low", "ci_high", "problems_n")
    return frame_of(rows, ("model", "benchmark", "contrast", *measures))


def _contrasts(context: AnalysisContext, row: Slice) -> dict[str, dict[str, Any]]:
    """Return a table row per contrast; all of them share the same resamples."""
    differences = _differences(_values(context, row), row.problems)
    n = len(differences)
    totals = resampled_totals(
        differences,
        context.settings.bootstrap_resamples,
        context.rng(f"policy_contrasts/{row.model}/{row.benchmark}"),
    )
    rows: dict[str, dict[str, Any]] = {}
    for column, contrast in enumerate(CONTRASTS):
        resampled = PERCENT * ratio(totals[:, column], UNIT * n)
        interval: Interval = percentile_interval(resampled)
        rows[contrast] = {
            **key_of(row),
            "contrast": contrast,
            "difference_pp": percent_of(int(differences[:, column].sum()), UNIT * n),
            "ci_low": interval.low,
            "ci_high": interval.high,
            "problems_n": n,
        }
    return rows


def _differences(values: PolicyValues, problems: npt.NDArray[np.bool_]) -> Counts:
    """Return the contrasts of each marked problem in units of 1/60; problems × contrasts."""
    kept = problems[values.problems]
    columns = [
        values.accuracy[first][kept] - values.accuracy[second][kept]
        for first, second in CONTRASTS.values()
    ]
    return np.stack(columns, axis=1)


def _values(context: AnalysisContext, row: Slice) -> PolicyValues:
    return context.cached(f"policies/{row.model}", lambda: policy_values(row.scan))


def _mean(values: Counts) -> float:
    return float(ratio(values.sum(), UNIT * len(values)))


TABLES: Final = MappingProxyType[str, TableFunction](
    {
        "table_13": table_13,
        "table_14": table_14,
        "table_15": table_15,
        "table_15_by_benchmark": table_15_by_benchmark,
        "table_16": table_16,
    }
)
