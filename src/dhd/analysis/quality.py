"""What was observed and what was not, by model, benchmark and stage: ``quality.csv``."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

import numpy as np
import pandas as pd

from dhd.analysis.context import Absent, AnalysisContext, TableFunction
from dhd.analysis.frames import percent
from dhd.messages import FIELD_NAMES, POOL_SIZE
from dhd.records.failures import counted_reasons, reason_counts
from dhd.records.schemas import LOO_SIZES, PROTOCOLS, REPEATED_STUDIES

_KEYS: Final = ["model", "integrator", "benchmark", "stage"]
#: Cells of one problem in each stage of the scan.
_SCAN_CELLS: Final = MappingProxyType(
    {"independent": 1, "single": POOL_SIZE, "full": POOL_SIZE, "removal": sum(LOO_SIZES)}
)
#: Calls of a block: two full and five removal; in masking two more identical-input calls,
#: one removal and three substitutions.
_BLOCK_CALLS: Final = MappingProxyType(
    dict.fromkeys(REPEATED_STUDIES, 2 + POOL_SIZE) | {"masking": 8}
)
_STAGES: Final = (
    "messages",
    *_SCAN_CELLS,
    *REPEATED_STUDIES,
    *(f"protocol_{name}" for name in PROTOCOLS),
)
_STATUSES: Final = MappingProxyType(
    {
        "ok": "ok_n",
        "invalid_format": "invalid_n",
        "no_answer": "no_answer_n",
        "truncated": "truncated_n",
        "failed": "failed_n",
        "unjudged": "unjudged_n",
    }
)


#: Statuses without a reason to tell: an outcome without an answer is a wrong one, and protocol
#: runs have no status.
_USABLE: Final = ("ok", "no_answer", "")
_COUNTS: Final = (*_STATUSES.values(), "judged_n", "complete_fields_n")
_POOL: Final = ["model", "integrator", "benchmark"]


def quality(context: AnalysisContext) -> pd.DataFrame:
    """Return how many rows each stage has in each status, and what is missing.

    ``expected_n`` is what a whole stage holds for the problems that it touches, ``rows_n`` what
    there is, ``judged_n`` how many rows have a judgement; ``missing_n`` = expected - rows, so
    that a row which is there but failed or is unjudged is no missing one. Messages that were
    delivered but not judged count as unjudged, and so do protocol runs, which have no status,
    without a judgement. ``complete_fields_n`` is the number of messages with all six structured
    fields, blank in other stages. ``reasons`` counts why messages are not usable and outcomes not
    observed, where the records tell it.

    Raises
    ------
    Absent
        When the records hold nothing that a model did.
    """
    parts = [_messages(context), *_outcomes(context), *_protocols(context)]
    rows = pd.concat(parts).reset_index()
    if rows.empty:
        raise Absent("the records hold no message, outcome or protocol run")
    rows.loc[rows["stage"] != "messages", "complete_fields_n"] = None
    rows["missing_n"] = rows["expected_n"] - rows["rows_n"]
    rows["complete_fields_pct"] = percent(rows["complete_fields_n"], rows["rows_n"])
    orders = {
        "model": context.order_models(rows["model"]),
        "integrator": context.order_models(rows["integrator"]),
        "benchmark": context.order_benchmarks(rows["benchmark"]),
        "stage": _STAGES,
    }
    for name, order in orders.items():
        rows[name] = pd.Categorical(rows[name].astype("str"), categories=list(order))
    rows = rows.sort_values(_KEYS, ignore_index=True)
    counts = {name: "Int64" for name in rows.columns if name.endswith("_n")}
    ordered = rows[[*(name for name in rows.columns if name != "reasons"), "reasons"]]
    return ordered.astype({**dict.fromkeys((*_KEYS, "reasons"), "str"), **counts})


def _messages(context: AnalysisContext) -> pd.DataFrame:
    messages = context.records.messages
    part = _keyed(context, messages, stage="messages", judged="proposal_correct")
    delivered = np.asarray(part["status"] == "ok") & ~np.asarray(part["judged_n"])
    part["status"] = part["status"].astype("str").where(~delivered, "unjudged")
    fields = messages[list(FIELD_NAMES)]
    part["complete_fields_n"] = (fields.notna() & (fields != "")).all(axis=1)
    expected = POOL_SIZE * part.groupby(_KEYS, observed=True)["uid"].nunique()
    return _counted(part).assign(expected_n=expected)


def _outcomes(context: AnalysisContext) -> Iterator[pd.DataFrame]:
    outcomes = context.records.outcomes
    in_scan = np.asarray(outcomes["study"] == "scan")
    for rows, count in ((outcomes[in_scan], _scan), (outcomes[~in_scan], _repeated)):
        if not rows.empty:
            stage = rows["condition"] if count is _scan else rows["study"]
            part = _keyed(context, rows, stage=stage, judged="correct")
            yield count(part, rows)


def _scan(part: pd.DataFrame, _: pd.DataFrame) -> pd.DataFrame:
    problems = part.groupby(_POOL, observed=True)["uid"].nunique()
    expected = pd.concat(
        {stage: problems * cells for stage, cells in _SCAN_CELLS.items()}, names=["stage"]
    ).reorder_levels(_KEYS)
    # A stage without any row is missing altogether, not absent from the table.
    return _counted(part).reindex(expected.index, fill_value=0).assign(expected_n=expected)


def _repeated(part: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    # What is replayed as a whole: a problem, or in masking one targeted message of it.
    target = np.where(rows["study"] == "masking", rows["message_index"], 0)
    part = part.assign(unit=part["uid"] * (POOL_SIZE + 1) + target, block=rows["block"])
    units = part.groupby(_KEYS, observed=True)["unit"].nunique()
    blocks = part.groupby(["model", "integrator", "stage"], observed=True)["block"].max()
    stages = units.index.get_level_values("stage")
    calls = np.asarray([_BLOCK_CALLS[str(stage)] for stage in stages])
    per_unit = blocks.reindex(units.index.droplevel("benchmark")).to_numpy()
    return _counted(part).assign(expected_n=units * per_unit * calls)


def _protocols(context: AnalysisContext) -> Iterator[pd.DataFrame]:
    runs = context.records.protocol_runs
    if runs is None or runs.empty:
        return
    stage = "protocol_" + runs["protocol"].astype("str")
    part = _keyed(context, runs, stage=stage, judged="correct")
    problems = part.groupby(_POOL, observed=True)["uid"].nunique()
    counted = _counted(part)
    expected = problems.reindex(counted.index.droplevel("stage")).to_numpy()
    yield counted.drop(columns=list(_STATUSES.values())).assign(
        unjudged_n=counted["rows_n"] - counted["judged_n"], expected_n=expected
    )


def _keyed(
    context: AnalysisContext, rows: pd.DataFrame, *, stage: pd.Series | str, judged: str
) -> pd.DataFrame:
    """Return the key columns of rows, the number of their problem, status and judgement."""
    uid = rows["problem_uid"].cat.codes.to_numpy(np.int64)
    return pd.DataFrame(
        {
            "model": rows["model"],
            "integrator": rows.get("integrator", rows["model"]),
            "benchmark": context.records.problems["benchmark"].array[uid],
            "stage": stage,
            "uid": uid,
            "status": rows.get("status", ""),
            "judged_n": rows[judged].notna(),
            "complete_fields_n": False,
            "reason": rows.get("reason"),
        },
        index=rows.index,
    )


def _counted(part: pd.DataFrame) -> pd.DataFrame:
    """Count rows by key, status and judgement, and say why some are not usable."""
    marks = {name: part["status"] == status for status, name in _STATUSES.items()}
    grouped = part.assign(**marks).groupby(_KEYS, observed=True)
    lacking = part[~part["status"].isin(_USABLE)]
    reasons = {
        key: counted_reasons(reason_counts(rows))
        for key, rows in lacking.groupby(_KEYS, observed=True)
    }
    counted = grouped[list(_COUNTS)].sum().assign(rows_n=grouped.size())
    return counted.assign(reasons=[reasons.get(key) for key in counted.index])


TABLES: Final = MappingProxyType[str, TableFunction]({"quality": quality})
