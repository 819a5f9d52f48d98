"""Agreement of evaluators on compound labels: Table 28."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dhd.analysis.agreement.evaluators import evaluations_of, verdict_table
from dhd.analysis.context import BOTH, POOLED, Absent, AnalysisContext, Claim
from dhd.analysis.frames import frame_of, percent_of
from dhd.errors import RecordsError

#: The submissions that one compound label combines.
KINDS: Final = ("proposed", "full", "removal")
_PROPOSED, _FULL, _REMOVAL = range(len(KINDS))

Agreeing = npt.NDArray[np.bool_]


def table_28(context: AnalysisContext) -> pd.DataFrame:
    """Return cross-evaluator agreement on triplets (paper Table 28).

    ``triplets_n`` counts triplets with a verdict of every evaluator on all three submissions.
    Ranges are over pairs of evaluators, in percent. Δ is full minus removal; a tuple agrees
    when all three verdicts, hence also Δ, agree.
    """
    by_model = _verdicts(context)
    rows = [{"model": model, **_agreement(by_model[model])} for model in by_model]
    ranges = ("proposed_answer", "direction", "pairwise_tuple")
    columns = [f"{name}_{end}_pct" for name in ranges for end in ("min", "max")]
    return frame_of(rows, ("model", "triplets_n", *columns, "three_way_tuple_pct"))


def triplet_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield the range of compound agreement and how many triplets were drawn."""
    for _, row in context.table("table_28", table_28).iterrows():
        for end in ("min", "max"):
            name = f"sixcell_agreement_{end}_{row['model']}"
            quantity = f"pairwise_six_cell_tuple_agreement_{end}"
            value = row[f"pairwise_tuple_{end}_pct"]
            yield Claim(name, quantity, value, "pct", row["model"], POOLED)
    rows = evaluations_of(context, triplets=True)
    drawn = rows.groupby("model", observed=True)["triplet_id"].nunique()
    if drawn.min() == drawn.max():
        quantity = "compound_label_triplets_drawn"
        value = int(drawn.iloc[0])
        yield Claim("compound_triplets_per_model", quantity, value, "n", BOTH, POOLED)


def _verdicts(context: AnalysisContext) -> dict[str, npt.NDArray[np.int64]]:
    """Return per model the complete verdicts: triplets × evaluators × kinds."""
    rows = evaluations_of(context, triplets=True)
    key = ["model", "triplet_id", "kind"]
    repeated = rows.duplicated([*key, "evaluator"])
    if repeated.any():
        triplet, kind = rows.loc[repeated, ["triplet_id", "kind"]].iloc[0]
        raise RecordsError(
            f"evaluations.parquet triplet_id {triplet!r}: more than one {kind!r} submission "
            f"of an evaluator; a triplet has one of each of {', '.join(KINDS)}"
        )
    wide = verdict_table(rows, key).unstack("kind")  # noqa: PD010 - nothing to aggregate
    evaluators = list(dict.fromkeys(wide.columns.get_level_values("evaluator")))
    if len(evaluators) < 2:
        raise Absent("evaluations.parquet has triplets of one evaluator only")
    columns = pd.MultiIndex.from_product([evaluators, KINDS], names=["evaluator", "kind"])
    complete = wide.reindex(columns=columns).dropna()
    models = wide.index.get_level_values("model")
    return {
        model: complete[complete.index.get_level_values("model") == model]
        .to_numpy(np.int64)
        .reshape(-1, len(evaluators), len(KINDS))
        for model in context.order_models(models)
    }


def _agreement(verdicts: npt.NDArray[np.int64]) -> dict[str, Any]:
    directions = verdicts[:, :, _FULL] - verdicts[:, :, _REMOVAL]
    shares: dict[str, list[float]] = {"proposed_answer": [], "direction": [], "pairwise_tuple": []}
    for first, second in combinations(range(verdicts.shape[1]), 2):
        equal = verdicts[:, first] == verdicts[:, second]
        shares["proposed_answer"].append(_share(equal[:, _PROPOSED]))
        shares["direction"].append(_share(directions[:, first] == directions[:, second]))
        shares["pairwise_tuple"].append(_share(equal.all(axis=1)))
    return {
        "triplets_n": len(verdicts),
        **{f"{name}_min_pct": min(values) for name, values in shares.items()},
        **{f"{name}_max_pct": max(values) for name, values in shares.items()},
        "three_way_tuple_pct": _share((verdicts == verdicts[:, :1]).all(axis=(1, 2))),
    }


def _share(agreeing: Agreeing) -> float:
    return percent_of(int(agreeing.sum()), len(agreeing))
