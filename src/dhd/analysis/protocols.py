"""The four end-to-end protocols: Tables 11 and 12."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pandas as pd

from dhd.analysis.context import (
    BOTH,
    MACRO,
    Absent,
    AnalysisContext,
    Claim,
    ClaimFunction,
    TableFunction,
)
from dhd.analysis.frames import frame_of, percent_of
from dhd.records.schemas import PROTOCOLS

_CELL: Final = ["model", "benchmark", "protocol"]
_TOKENS_PER_UNIT: Final = 1000


def table_11(context: AnalysisContext) -> pd.DataFrame:
    """Return the accuracy of the protocols on the matched slice (paper Table 11).

    The matched slice of a benchmark holds the problems that every protocol of every model
    judged. The rows ``both``, ``macro`` are unweighted means over model–benchmark cells.
    """
    cells = context.table("protocol_cells", protocol_cells)
    rows = cells[[*_CELL, "problems_n", "accuracy_pct"]]
    macro = [
        {"model": BOTH, "benchmark": MACRO, "protocol": protocol, "accuracy_pct": value}
        for protocol, value in _by_protocol(cells)
    ]
    return pd.concat([rows, pd.DataFrame(macro)], ignore_index=True)


def table_12(context: AnalysisContext) -> pd.DataFrame:
    """Return accuracy, tokens and calls a problem on the matched slice (paper Table 12).

    ``tokens_thousands_per_problem`` counts prompt and completion tokens of all calls. The
    paper prints one model and benchmark; the frame holds all.
    """
    cells = context.table("protocol_cells", protocol_cells)
    values = ["accuracy_pct", "tokens_thousands_per_problem", "logged_calls_per_problem"]
    return cells[[*_CELL, *values, "problems_n"]]


def protocol_cells(context: AnalysisContext) -> pd.DataFrame:
    """Return every model, benchmark and protocol of the matched slice, in table order.

    Raises
    ------
    Absent
        When there are no protocol runs, or no problem that all of them judged.
    """
    runs = context.records.protocol_runs
    if runs is None or runs.empty:
        raise Absent("the records have no protocol_runs.parquet, or it is empty")
    matched = _matched_slice(runs)
    if matched.empty:
        raise Absent("protocol_runs.parquet has no problem that every protocol and model judged")
    uids = matched["problem_uid"].astype(str)
    matched = matched.assign(benchmark=context.benchmark_of.reindex(uids).to_numpy())
    groups = dict(list(matched.groupby(_CELL, observed=True)))
    rows = [
        {"model": model, "benchmark": benchmark, "protocol": protocol, **_cell(part)}
        for model in context.order_models(matched["model"])
        for benchmark in context.order_benchmarks(matched["benchmark"])
        for protocol in PROTOCOLS
        if (part := groups.get((model, benchmark, protocol))) is not None
    ]
    values = ("accuracy_pct", "tokens_thousands_per_problem", "logged_calls_per_problem")
    return frame_of(rows, (*_CELL, "problems_n", *values))


def protocol_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield the size of the protocol comparison and the range of its costs."""
    cells = context.table("protocol_cells", protocol_cells)
    yield Claim("system_protocols", "end_to_end_protocols", cells["protocol"].nunique(), "n")
    yield Claim("system_cells", "protocol_cells", len(cells), "n")
    first = cells[
        (cells["model"] == cells["model"].iloc[0])
        & (cells["benchmark"] == cells["benchmark"].iloc[0])
    ]
    model, benchmark = first["model"].iloc[0], first["benchmark"].iloc[0]
    tokens = first["tokens_thousands_per_problem"]
    for end, name, value in (
        ("low", "lowest", tokens.min()),
        ("high", "highest", tokens.max()),
    ):
        quantity = f"{name}_mean_tokens_per_problem_approx"
        unit = "thousand_tokens"
        yield Claim(f"system_tokens_{end}", quantity, float(value), unit, model, benchmark)
    problems = int(first["problems_n"].iloc[0])
    yield Claim("system_cost_problems", "problems_in_cost_run", problems, "n", model, benchmark)


def _matched_slice(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of problems that every protocol and model that occurs has judged."""
    judged = runs[runs["correct"].notna()]
    needed = len(runs[["protocol", "model"]].drop_duplicates())
    have = judged["problem_uid"].map(judged["problem_uid"].value_counts()).to_numpy(np.int64)
    return judged[have == needed]


def _cell(runs: pd.DataFrame) -> dict[str, Any]:
    problems = len(runs)
    tokens = int(runs["prompt_tokens"].sum()) + int(runs["completion_tokens"].sum())
    return {
        "problems_n": problems,
        "accuracy_pct": percent_of(int(runs["correct"].sum()), problems),
        "tokens_thousands_per_problem": tokens / problems / _TOKENS_PER_UNIT,
        "logged_calls_per_problem": int(runs["calls"].sum()) / problems,
    }


def _by_protocol(cells: pd.DataFrame) -> Iterator[tuple[str, float]]:
    for protocol in PROTOCOLS:
        accuracies = cells.loc[cells["protocol"] == protocol, "accuracy_pct"]
        if not accuracies.empty:
            yield protocol, float(accuracies.mean())


TABLES: Final = MappingProxyType[str, TableFunction]({"table_11": table_11, "table_12": table_12})
CLAIMS: Final[tuple[ClaimFunction, ...]] = (protocol_claims,)
