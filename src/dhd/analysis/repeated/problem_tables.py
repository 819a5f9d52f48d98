"""Problem-level multiplicity and alignment with the scan: Tables 20 and 21."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dhd.analysis.cells import SIX_CELLS
from dhd.analysis.context import BOTH, POOLED, Absent, AnalysisContext, TableFunction
from dhd.analysis.frames import frame_of, percent_of
from dhd.analysis.repeated.blocks import ReplayBlocks
from dhd.analysis.repeated.multiplicity import selected
from dhd.analysis.repeated.problem_test import (
    exact_problem_p,
    monte_carlo_problem_p,
    problem_patterns,
)
from dhd.analysis.repeated.separation import separation
from dhd.analysis.repeated.studies import repeats_of
from dhd.messages import POOL_SIZE
from dhd.records.schemas import LOO_SIZES

#: Uncorrected level that Table 20 counts.
_RAW_LEVEL: Final = 0.05


def problem_p_values(context: AnalysisContext) -> pd.DataFrame:
    """Return the one-sided p-value of every eligible problem of every model.

    A problem is eligible when it is complete and has a wrong message. Columns ``model``,
    ``benchmark``, ``problem_uid``, ``p_value``, ``statistic`` (largest τ̂ of a wrong message),
    ``bh_global`` and ``by_global`` (kept by the screen over all models), ``bh_model`` and
    ``by_model`` (by the screen within the model).
    """
    parts = [_model_p_values(context, blocks) for blocks in repeats_of(context).values()]
    frame = pd.concat(parts, ignore_index=True)
    rate = context.settings.false_discovery_rate
    for correction in ("bh", "by"):
        frame[f"{correction}_global"] = selected(frame["p_value"], correction, rate)
    return frame


def table_20(context: AnalysisContext) -> pd.DataFrame:
    """Return the problem-blocked multiplicity check (paper Table 20).

    The row ``both`` screens the problems of all models together, the others each model's.
    ``coverage_benchmarks_n`` counts benchmarks with a BH-selected problem, out of those that
    the scope sampled.
    """
    repeats = repeats_of(context)
    p_values = context.table("problem_p_values", problem_p_values)
    everything = [key for blocks in repeats.values() for key in blocks.benchmarks]
    rows = [{"model": BOTH, **_screen(p_values, "global", everything)}]
    for model, blocks in repeats.items():
        mine = p_values[p_values["model"] == model]
        rows.append({"model": model, **_screen(mine, "model", list(blocks.benchmarks))})
    columns = ("eligible_problems_n", "raw_p_le_05_n", "bh_selected_n", "by_selected_n")
    coverage = ("coverage_benchmarks_n", "coverage_of_n")
    return frame_of(rows, ("model", *columns, *coverage))


def table_21(context: AnalysisContext) -> pd.DataFrame:
    """Return how wrong-helpful messages of the scan fared in the repeats (paper Table 21).

    Over eligible messages of complete scan problems that were also repeated, and whose effect
    at K = 5 was wrong-helpful. A direction is resolved when the message is separated.
    """
    scans = context.require_scans()
    rows: list[dict[str, Any]] = []
    for model, blocks in repeats_of(context).items():
        if model not in scans:
            continue
        scan = scans[model]
        position = {uid: i for i, uid in enumerate(scan.problem_uids)}
        row = np.array([position.get(uid, -1) for uid in blocks.problem_uids], dtype=np.int64)
        shared = (row >= 0) & scan.sample.complete[row]
        cells = scan.loo_cell[row[shared], LOO_SIZES.index(POOL_SIZE)]
        labels = separation(blocks.differences, blocks.valid)[shared]
        resolved = labels[cells == SIX_CELLS.index("wrong_helpful")]
        same, opposite = int((resolved > 0).sum()), int((resolved < 0).sum())
        rows.append(
            {
                "model": model,
                "benchmark": POOLED,
                "k": POOL_SIZE,
                "original_wrong_helpful_n": len(resolved),
                "same_direction_n": same,
                "opposite_n": opposite,
                "unresolved_n": int((resolved == 0).sum()),
                "same_among_resolved_pct": percent_of(same, same + opposite),
                "overlap_excluded_n": int((~shared).sum()),
            }
        )
    if not rows:
        raise Absent("no model has rows of both studies 'scan' and 'repeats'")
    counts = ("original_wrong_helpful_n", "same_direction_n", "opposite_n", "unresolved_n")
    more = ("same_among_resolved_pct", "overlap_excluded_n")
    return frame_of(rows, ("model", "benchmark", "k", *counts, *more))


def _model_p_values(context: AnalysisContext, blocks: ReplayBlocks) -> pd.DataFrame:
    patterns = problem_patterns(blocks)
    if context.settings.inference.method == "exact":
        p_values = exact_problem_p(patterns)
    else:
        draws = context.settings.inference.monte_carlo_draws
        rng = context.rng(f"problem_p/{blocks.model}")
        p_values = monte_carlo_problem_p(patterns, draws, rng)
    rate = context.settings.false_discovery_rate
    return pd.DataFrame(
        {
            "model": blocks.model,
            "benchmark": blocks.benchmarks[patterns.positions],
            "problem_uid": blocks.problem_uids[patterns.positions],
            "p_value": p_values,
            "statistic": patterns.statistics / (2 * blocks.block_count),
            "bh_model": selected(p_values, "bh", rate),
            "by_model": selected(p_values, "by", rate),
        }
    )


def _screen(p_values: pd.DataFrame, family: str, sampled: list[Any]) -> dict[str, int]:
    kept: npt.NDArray[np.bool_] = p_values[f"bh_{family}"].to_numpy(np.bool_)
    return {
        "eligible_problems_n": len(p_values),
        "raw_p_le_05_n": int((p_values["p_value"] <= _RAW_LEVEL).sum()),
        "bh_selected_n": int(kept.sum()),
        "by_selected_n": int(p_values[f"by_{family}"].sum()),
        "coverage_benchmarks_n": int(p_values["benchmark"][kept].nunique()),
        "coverage_of_n": len(set(sampled)),
    }


TABLES: Final = MappingProxyType[str, TableFunction]({"table_20": table_20, "table_21": table_21})
