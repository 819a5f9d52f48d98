"""Component masking: Table 23."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pandas as pd

from dhd.analysis.context import Absent, AnalysisContext, TableFunction
from dhd.analysis.frames import frame_of, percent_of
from dhd.analysis.repeated.blocks import ReplayBlocks
from dhd.analysis.repeated.separation import separation
from dhd.analysis.repeated.separation_control import CELLS, in_category
from dhd.analysis.repeated.studies import repeats_of, study_rows

#: Conditions of the records by the name in the table, in the paper's order.
CONDITIONS: Final = MappingProxyType(
    {
        "full": "full",
        "repeat": "repeat",
        "removal": "remove",
        "neutral": "neutral_replacement",
        "mask_answer": "hide_answer",
        "mask_reasoning": "hide_reasoning",
    }
)
INDETERMINATE: Final = "indeterminate"
#: Sample categories in the paper's order.
SAMPLES: Final = (
    "wrong_helpful",
    "correct_helpful",
    "wrong_harmful",
    "correct_harmful",
    INDETERMINATE,
)


def table_23(context: AnalysisContext) -> pd.DataFrame:
    """Return integrator success by sample category and condition (paper Table 23).

    A case's category is its message's label in ``repeats``; cases of problems that were not
    repeated have none and are left out. The two identical-input calls of ``full`` and
    ``repeat`` are averaged first, then repetitions and cases; outcomes that were not observed
    are in no average.
    """
    rows = study_rows(context, "masking")
    table: list[dict[str, Any]] = []
    repeats = repeats_of(context)
    for model in context.order_models(rows["model"].unique()):
        if model in repeats:
            mine = rows.iloc[np.flatnonzero((rows["model"] == model).to_numpy())]
            table += _model_rows(model, _scored(mine, message_categories(repeats[model])))
    if not table:
        raise Absent("no case of study 'masking' has a label from study 'repeats'")
    columns = ("model", "sample", "cases_n", "condition", "success_pct", "outcomes_n")
    return frame_of(table, columns)


def message_categories(blocks: ReplayBlocks) -> dict[tuple[str, int], str]:
    """Return the category of every repeated message by (problem_uid, message_index)."""
    labels = separation(blocks.differences, blocks.valid)
    names = np.full(labels.shape, INDETERMINATE, dtype=object)
    for cell in CELLS:
        names[in_category(cell, labels, blocks.proposals)] = cell
    return {
        (str(blocks.problem_uids[problem]), message + 1): str(name)
        for (problem, message), name in np.ndenumerate(names)
    }


def _scored(rows: pd.DataFrame, samples: dict[tuple[str, int], str]) -> pd.DataFrame:
    """Return one row per case, condition and repetition: its score, or NaN if not observed."""
    frame = pd.DataFrame(
        {
            "case": list(
                zip(rows["problem_uid"].astype(str), rows["message_index"].tolist(), strict=True)
            ),
            "condition": rows["condition"].astype(str).to_numpy(dtype=object),
            "block": rows["block"].to_numpy(np.int64),
            "correct": rows["correct"].astype("float64").to_numpy(),
        }
    )
    calls = frame.groupby(["case", "condition", "block"], sort=True)["correct"]
    scored = calls.agg(["mean", "count"]).reset_index()
    scored["sample"] = scored["case"].map(samples)
    return scored[scored["sample"].notna()]


def _model_rows(model: str, scored: pd.DataFrame) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for sample in SAMPLES:
        cases = scored[scored["sample"] == sample]
        if cases.empty:
            continue
        for condition, name in CONDITIONS.items():
            scores = cases.loc[cases["condition"] == condition, "mean"].dropna()
            # Scores are multiples of one half: doubling keeps their sum exact.
            rows.append(
                {
                    "model": model,
                    "sample": sample,
                    "cases_n": int(cases["case"].nunique()),
                    "condition": name,
                    "success_pct": percent_of(round(2 * float(scores.sum())), 2 * len(scores)),
                    "outcomes_n": int(cases.loc[cases["condition"] == condition, "count"].sum()),
                }
            )
    return rows


TABLES: Final = MappingProxyType[str, TableFunction]({"table_23": table_23})
