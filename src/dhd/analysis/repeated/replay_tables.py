"""Disagreement, separated cells and mean effects: Tables 17, 18 and 19."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from dhd.analysis.bootstrap import Interval
from dhd.analysis.context import POOLED, AnalysisContext, TableFunction
from dhd.analysis.frames import PERCENT, frame_of, percent_of
from dhd.analysis.repeated.blocks import FloatArray, ReplayBlocks
from dhd.analysis.repeated.hierarchical import mean_effects, resampled_totals, stratum_totals
from dhd.analysis.repeated.message_test import exact_message_p, monte_carlo_message_p
from dhd.analysis.repeated.multiplicity import Correction, selected
from dhd.analysis.repeated.separation import separation
from dhd.analysis.repeated.separation_control import (
    CATEGORIES,
    CELLS,
    in_category,
    separation_control,
)
from dhd.analysis.repeated.studies import repeats_of
from dhd.messages import POOL_SIZE

CORRECTIONS: Final[tuple[Correction, ...]] = ("bh", "by")


def table_17(context: AnalysisContext) -> pd.DataFrame:
    """Return replay disagreement and separated cells by benchmark (paper Table 17).

    ``ci_low`` and ``ci_high`` are the Wilson 95 % interval of the disagreement, in percent.
    ``indeterminate_n`` counts every message that is not separated.
    """
    rows = [
        {
            "model": model,
            "benchmark": benchmark,
            "k": POOL_SIZE,
            **_disagreement(part),
            **_cells(part),
        }
        for model, blocks in repeats_of(context).items()
        for benchmark, part in by_benchmark(context, blocks)
    ]
    counts = ("indeterminate_n", "pairs_n", "disagreeing_pairs_n", "problems_n")
    columns = ("disagreement_pct", "ci_low", "ci_high", *(f"{cell}_n" for cell in CELLS), *counts)
    return frame_of(rows, ("model", "benchmark", "k", *columns))


def table_18(context: AnalysisContext) -> pd.DataFrame:
    """Return mean effects by proposal correctness in percentage points (paper Table 18).

    Intervals are hierarchical; the pooled row sums the resamples of the benchmarks.
    """
    rows: list[dict[str, Any]] = []
    for model, blocks in repeats_of(context).items():
        totals: dict[str, FloatArray] = {}
        resampled: dict[str, FloatArray] = {}
        for benchmark, part in by_benchmark(context, blocks, pooled=False):
            rng = context.rng(f"table_18/{model}/{benchmark}")
            totals[benchmark] = stratum_totals(part)
            resampled[benchmark] = resampled_totals(part, context.settings.bootstrap_resamples, rng)
        totals[POOLED] = np.sum(list(totals.values()), axis=0)
        resampled[POOLED] = np.sum(list(resampled.values()), axis=0)
        for benchmark, observed in totals.items():
            effects = mean_effects(observed, resampled[benchmark], blocks.block_count)
            rows += [
                {
                    "model": model,
                    "benchmark": benchmark,
                    "k": POOL_SIZE,
                    "proposed_answer": name,
                    "mean_effect_pp": PERCENT * effect.value,
                    "ci_low": PERCENT * effect.interval.low,
                    "ci_high": PERCENT * effect.interval.high,
                }
                for name, effect in effects.items()
            ]
    columns = ("proposed_answer", "mean_effect_pp", "ci_low", "ci_high")
    return frame_of(rows, ("model", "benchmark", "k", *columns))


def table_19(context: AnalysisContext) -> pd.DataFrame:
    """Return the calibration of separated counts by category (paper Table 19).

    The null shuffles slots within blocks. ``bh_selected_n`` and ``by_selected_n`` count the
    separated messages that a screen of all the model's messages keeps; ``strict_n`` those of
    problems whose every slot has status ``ok``.
    """
    rows: list[dict[str, Any]] = []
    for model, blocks in repeats_of(context).items():
        control = separation_control(
            blocks, context.settings.permutation_draws, context.rng(f"table_19/{model}")
        )
        labels = separation(blocks.differences, blocks.valid)
        p_values = message_p(context, blocks)
        rate = context.settings.false_discovery_rate
        kept = {name: selected(p_values, name, rate) for name in CORRECTIONS}
        for category in CATEGORIES:
            members = in_category(category, labels, blocks.proposals)
            low, high = control.count_range(category)
            rows.append(
                {
                    "model": model,
                    "benchmark": POOLED,
                    "k": POOL_SIZE,
                    "category": category,
                    "observed_n": int(members.sum()),
                    "null_low_n": low,
                    "null_high_n": high,
                    **{f"{name}_selected_n": int((members & kept[name]).sum()) for name in kept},
                    "strict_n": int((members & blocks.strict[:, None]).sum()),
                    "permutation_p": control.p_value(category),
                }
            )
    columns = ("observed_n", "null_low_n", "null_high_n", "bh_selected_n", "by_selected_n")
    more = ("strict_n", "permutation_p")
    return frame_of(rows, ("model", "benchmark", "k", "category", *columns, *more))


def message_p(context: AnalysisContext, blocks: ReplayBlocks) -> FloatArray:
    """Return two-sided p-values of all messages by the configured method: problems × messages."""
    if context.settings.inference.method == "exact":
        return exact_message_p(blocks)
    rng = context.rng(f"message_p/{blocks.model}")
    return monte_carlo_message_p(blocks, context.settings.permutation_draws, rng)


def by_benchmark(
    context: AnalysisContext, blocks: ReplayBlocks, *, pooled: bool = True
) -> Iterator[tuple[str, ReplayBlocks]]:
    """Yield a study's benchmarks in table order with their problems, then all of them."""
    for key in context.order_benchmarks(blocks.benchmarks):
        yield key, blocks.select(blocks.benchmarks == key)
    if pooled:
        yield POOLED, blocks


def wilson_interval(count: int, total: int) -> Interval:
    """Return the Wilson 95 % interval of a proportion, in percent; NaN without a trial."""
    if total == 0:
        return Interval(np.nan, np.nan)
    low, high = np.clip(proportion_confint(count, total, alpha=0.05, method="wilson"), 0, 1)
    return Interval(PERCENT * float(low), PERCENT * float(high))


def _disagreement(blocks: ReplayBlocks) -> dict[str, float]:
    disagreeing, pairs = int(blocks.disagreeing_pairs.sum()), int(blocks.full_pairs.sum())
    interval = wilson_interval(disagreeing, pairs)
    return {
        "disagreement_pct": percent_of(disagreeing, pairs),
        "ci_low": interval.low,
        "ci_high": interval.high,
        "pairs_n": pairs,
        "disagreeing_pairs_n": disagreeing,
        "problems_n": blocks.problem_count,
    }


def _cells(blocks: ReplayBlocks) -> dict[str, int]:
    labels = separation(blocks.differences, blocks.valid)
    counts = {f"{cell}_n": int(in_category(cell, labels, blocks.proposals).sum()) for cell in CELLS}
    return {**counts, "indeterminate_n": int((labels == 0).sum())}


TABLES: Final = MappingProxyType[str, TableFunction](
    {"table_17": table_17, "table_18": table_18, "table_19": table_19}
)
