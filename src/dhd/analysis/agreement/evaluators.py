"""Pairwise agreement of evaluators on saved submissions: Figure 9."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from dhd.analysis.agreement.kappa import confusion, kappa
from dhd.analysis.context import POOLED, Absent, AnalysisContext, Claim
from dhd.analysis.frames import frame_of, percent_of

_VERDICTS = (0, 1)


def evaluations_of(context: AnalysisContext, *, triplets: bool) -> pd.DataFrame:
    """Return the evaluations that belong to triplets, or those that do not.

    Raises
    ------
    Absent
        When there are none.
    """
    evaluations = context.records.evaluations
    if evaluations is None:
        raise Absent("the records have no evaluations.parquet")
    if evaluations.empty:
        raise Absent("evaluations.parquet is empty: no study of evaluators was run")
    rows = evaluations[evaluations["triplet_id"].notna() == triplets]
    if rows.empty:
        kind = "triplets (rows with" if triplets else "single submissions (rows without"
        raise Absent(f"evaluations.parquet has no {kind} a triplet_id)")
    return rows


def verdict_table(rows: pd.DataFrame, index: list[str]) -> pd.DataFrame:
    """Return verdicts as 1, 0, NaN: one row per ``index``, one column per evaluator.

    Evaluators come in the order in which the table first names them.
    """
    evaluators = list(dict.fromkeys(rows["evaluator"].astype(str)))
    frame = rows[index].astype(str)
    frame["evaluator"] = rows["evaluator"].astype(str)
    frame["verdict"] = rows["verdict"].astype("float64")
    wide = frame.set_index([*index, "evaluator"])["verdict"]
    return wide.unstack("evaluator")[evaluators]  # noqa: PD010 - nothing to aggregate


def figure_09(context: AnalysisContext) -> pd.DataFrame:
    """Return pairwise agreement and Cohen's κ of evaluators (paper Figure 9).

    ``submissions_n`` counts all submissions outside triplets; agreement (percent) and κ are
    over ``valid_pairs_n``, those with a verdict of both evaluators.
    """
    verdicts = verdict_table(evaluations_of(context, triplets=False), ["submission_id"])
    if verdicts.shape[1] < 2:
        raise Absent("evaluations.parquet has verdicts of one evaluator only")
    rows: list[dict[str, Any]] = []
    for first, second in combinations(verdicts.columns, 2):
        pairs = verdicts[[first, second]].dropna().to_numpy(np.int64)
        table = confusion(pairs[:, 0], pairs[:, 1], _VERDICTS)
        rows.append(
            {
                "evaluator_a": first,
                "evaluator_b": second,
                "submissions_n": len(verdicts),
                "valid_pairs_n": len(pairs),
                "agreement_pct": percent_of(int(np.trace(table)), len(pairs)),
                "kappa": kappa(table),
            }
        )
    columns = ("submissions_n", "valid_pairs_n", "agreement_pct", "kappa")
    return frame_of(rows, ("evaluator_a", "evaluator_b", *columns))


def evaluator_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield size, coverage and range of the evaluator replay."""
    verdicts = verdict_table(evaluations_of(context, triplets=False), ["submission_id"])
    submissions = len(verdicts)
    yield Claim("evaluator_replay_submissions", "saved_submissions_replayed", submissions, "n")
    yield Claim("evaluator_models", "evaluator_models", verdicts.shape[1], "n")
    coverage = {
        str(evaluator): percent_of(int(verdicts[evaluator].notna().sum()), submissions)
        for evaluator in verdicts
    }
    for evaluator, value in coverage.items():
        name = f"evaluator_coverage:{evaluator}"
        yield Claim(name, "valid_coverage", value, "pct", benchmark=POOLED)
    pairs = context.table("figure_09", figure_09)
    for name, values, quantity, unit in (
        ("evaluator_pairwise", pairs["agreement_pct"], "pairwise_agreement", "pct"),
        ("evaluator_kappa", pairs["kappa"], "pairwise_kappa", "kappa"),
        ("evaluator_coverage", pd.Series(coverage), "valid_coverage", "pct"),
    ):
        for end in ("min", "max"):
            yield Claim(f"{name}_{end}", f"{quantity}_{end}", getattr(values, end)(), unit)
