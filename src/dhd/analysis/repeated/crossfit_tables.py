"""The cross-fitted one-removal opportunity: Tables 24, 25 and 26."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pandas as pd

from dhd.analysis.bootstrap import Interval, cluster_bootstrap_interval, ratio
from dhd.analysis.context import POOLED, Absent, AnalysisContext, TableFunction
from dhd.analysis.frames import PERCENT, frame_of, percent_of
from dhd.analysis.repeated.blocks import ReplayBlocks
from dhd.analysis.repeated.crossfit import (
    KEEP_ALL,
    CrossFit,
    arm_scores,
    correctness_cross_fit,
    hindsight_accuracy,
    message_cross_fit,
    remove_lowest_wrong,
    remove_uniform_wrong,
    rescues_and_harms,
)
from dhd.analysis.repeated.crossfit_control import CONTROLS, crossfit_control
from dhd.analysis.repeated.replay_tables import by_benchmark
from dhd.analysis.repeated.studies import repeats_of

#: Full-pool replicate of each arm variant.
ARMS: Final = MappingProxyType({"A": 0, "B": 1})


def complete_repeats(context: AnalysisContext) -> Mapping[str, ReplayBlocks]:
    """Return the complete problems of every model's repeats; models without any are left out.

    Raises
    ------
    Absent
        When no model has a complete problem with at least two blocks, which a fold needs.
    """
    found = {
        model: blocks.select(blocks.complete)
        for model, blocks in repeats_of(context).items()
        if blocks.complete.any() and blocks.block_count > 1
    }
    if not found:
        raise Absent("study 'repeats' has no problem with every slot of two or more blocks")
    return found


def table_24(context: AnalysisContext) -> pd.DataFrame:
    """Return the cross-fitted accuracy and gain of every model (paper Table 24).

    Percent and percentage points over all folds of complete problems, with the
    problem-cluster interval of the gain. Further columns hold what Appendix I says in its
    text: folds that keep all, rescues and harms, the hindsight bound, the gain of the
    proposal-correctness comparator and of the two simple checks.
    """
    rows: list[dict[str, Any]] = []
    for model, blocks in complete_repeats(context).items():
        fit = message_cross_fit(blocks)
        interval = _gain_interval(context, model, fit)
        rescues, harms = rescues_and_harms(fit)
        rows.append(
            {
                "model": model,
                "benchmark": POOLED,
                "full_accuracy_pct": PERCENT * fit.keep_accuracy,
                "crossfit_accuracy_pct": PERCENT * fit.chosen_accuracy,
                "gain_pp": PERCENT * fit.gain,
                "ci_low": PERCENT * interval.low,
                "ci_high": PERCENT * interval.high,
                "problems_n": blocks.problem_count,
                "folds_n": fit.keep.size,
                "full_selected_pct": percent_of(
                    int((fit.choice == KEEP_ALL).sum()), fit.choice.size
                ),
                "rescues_n": rescues,
                "harms_n": harms,
                "hindsight_accuracy_pct": PERCENT * hindsight_accuracy(blocks),
                "correctness_gain_pp": PERCENT * correctness_cross_fit(blocks).gain,
                "remove_lowest_wrong_gain_pp": PERCENT * remove_lowest_wrong(blocks),
                "remove_uniform_wrong_gain_pp": PERCENT * remove_uniform_wrong(blocks),
            }
        )
    return pd.DataFrame(rows)


def table_25(context: AnalysisContext) -> pd.DataFrame:
    """Return the cross-fitted gain by benchmark in percentage points (paper Table 25)."""
    rows = [
        {
            "model": model,
            "benchmark": benchmark,
            "problems_n": part.problem_count,
            "gain_pp": PERCENT * message_cross_fit(part).gain,
        }
        for model, blocks in complete_repeats(context).items()
        for benchmark, part in by_benchmark(context, blocks, pooled=False)
    ]
    return frame_of(rows, ("model", "benchmark", "problems_n", "gain_pp"))


def table_26(context: AnalysisContext) -> pd.DataFrame:
    """Return the gain with one full-pool replicate against shuffled controls (paper Table 26).

    Gains are in percentage points; ``permutation_p`` is one-sided.
    """
    rows: list[dict[str, Any]] = []
    for model, blocks in complete_repeats(context).items():
        for arm, replicate in ARMS.items():
            scores = arm_scores(blocks, replicate)
            for control in CONTROLS:
                rng = context.rng(f"table_26/{model}/{arm}/{control}")
                draws = context.settings.crossfit_null_draws
                result = crossfit_control(scores, control, draws, rng)
                low, high = result.null_range
                rows.append(
                    {
                        "model": model,
                        "arm": arm,
                        "control": control,
                        "observed_gain_pp": PERCENT * result.gain,
                        "null_low_pp": PERCENT * low,
                        "null_high_pp": PERCENT * high,
                        "permutation_p": result.p_value,
                        "null_max_pp": PERCENT * result.null_maximum,
                    }
                )
    columns = ("observed_gain_pp", "null_low_pp", "null_high_pp", "permutation_p", "null_max_pp")
    return frame_of(rows, ("model", "arm", "control", *columns))


def _gain_interval(context: AnalysisContext, model: str, fit: CrossFit) -> Interval:
    """Return the problem-cluster interval of a gain (fraction)."""
    gains = fit.gains.sum(axis=1)
    return cluster_bootstrap_interval(
        np.stack([gains, np.full_like(gains, fit.gains.shape[1])], axis=1),
        lambda totals: ratio(totals[:, 0], totals[:, 1] * fit.unit),
        resamples=context.settings.bootstrap_resamples,
        rng=context.rng(f"table_24/{model}"),
    )


TABLES: Final = MappingProxyType[str, TableFunction](
    {"table_24": table_24, "table_25": table_25, "table_26": table_26}
)
