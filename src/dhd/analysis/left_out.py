"""What the six-cell tables leave out, and why: ``left_out.csv``.

The headline matrices count complete problems and eligible messages alone. Everything else has
one reason here, so that rows that do not sum to the number of messages explain themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dhd.analysis.cells import LOO_PAIRS, Judgements, ModelScan, cell_of
from dhd.analysis.context import AnalysisContext, TableFunction
from dhd.analysis.frames import Slice, frame_of, key_of, slices

Causes = npt.NDArray[np.int8]

#: Why something is not counted, from the mildest; where several apply, the last one is said.
REASONS: Final = ("no_answer", "unjudged", "failed", "missing")
_COUNTED: Final = 0
_NO_ANSWER, _UNJUDGED, _FAILED, _MISSING = range(1, len(REASONS) + 1)


def left_out(context: AnalysisContext) -> pd.DataFrame:
    """Return how many problems and message effects the matrices count and leave out.

    Three rows for each model and benchmark, and for all its benchmarks: ``unit`` is ``problem``,
    ``single`` (a message shown alone against none) or ``loo`` (a message taken out of a prefix,
    K = 2…5). ``all_n`` is what the scan's problems have, ``counted_n`` what Tables 3, 4, 8, 9
    and 10 count; their difference is split by reason:

    - ``missing_n``: the records have no such row;
    - ``failed_n``: a request failed;
    - ``unjudged_n``: an answer has no verdict;
    - ``no_answer_n``: a message that states no answer, or nothing that could be shown.

    A problem is left out as a whole when its pool does not qualify or an in-pool outcome that
    it needs is not observed; its effects share its reason, the first of those above that
    applies. Effects of counted problems have their own.
    """
    rows: list[dict[str, Any]] = []
    causes = {model: _causes(context, model) for model in context.require_scans()}
    for row in slices(context):
        found = causes[row.model]
        units = {"problem": found.problem, "single": found.single, "loo": found.loo}
        rows += [{**key_of(row), "unit": k, **_counts(row, of)} for k, of in units.items()]
    counts = ("all_n", "counted_n", *(f"{reason}_n" for reason in reversed(REASONS)))
    return frame_of(rows, ("model", "benchmark", "unit", *counts))


@dataclass(frozen=True, slots=True)
class _Causes:
    """Why problems (n), single effects (n × 5) and LOO effects (n × 14) are not counted."""

    problem: Causes
    single: Causes
    loo: Causes


def _counts(row: Slice, causes: Causes) -> dict[str, int]:
    found = np.bincount(causes[row.problems].ravel(), minlength=len(REASONS) + 1)
    by_reason = {f"{name}_n": int(found[at]) for at, name in enumerate(REASONS, start=1)}
    return {"all_n": int(found.sum()), "counted_n": int(found[_COUNTED]), **by_reason}


def _causes(context: AnalysisContext, model: str) -> _Causes:
    scan = context.scans[model]
    message = _message_causes(context, scan)
    independent, single, full, removal = _outcome_causes(context, scan)
    needed = np.maximum(full[:, 1:, None], removal)[:, LOO_PAIRS]
    index = np.broadcast_to(np.arange(LOO_PAIRS.shape[1]), LOO_PAIRS.shape)[LOO_PAIRS]
    of_pool = message.max(axis=1)
    of_replay = np.where(scan.eligible[:, index], needed, _COUNTED).max(axis=1)
    problem = np.where(scan.sample.loo_eligible, of_replay, of_pool)
    own = np.where(scan.eligible, _COUNTED, message)
    pairs = np.maximum(single, independent[:, None])
    return _Causes(
        problem=problem,
        single=_of_problem(problem, np.where(own > 0, own, pairs)),
        loo=_of_problem(problem, own[:, index]),
    )


def _of_problem(problem: Causes, own: Causes) -> Causes:
    """Return the effects' own causes, or that of their problem where it is left out."""
    return np.where(problem[:, None] > 0, problem[:, None], own)


def _message_causes(context: AnalysisContext, scan: ModelScan) -> Causes:
    """Return why each message is not eligible; n × 5."""
    messages = context.records.messages
    messages = messages[(messages["model"] == scan.model).to_numpy()]
    row, kept = _rows(scan, messages)
    column = messages["message_index"].to_numpy(np.int64)[kept] - 1
    failed = (messages["status"] == "failed").to_numpy()[kept]
    unjudged = messages["proposal_correct"].isna().to_numpy()[kept]
    causes = np.full(scan.eligible.shape, _MISSING, dtype=np.int8)
    causes[row, column] = np.where(failed, _FAILED, np.where(unjudged, _UNJUDGED, _NO_ANSWER))
    causes[scan.eligible] = _COUNTED
    return causes


def _outcome_causes(
    context: AnalysisContext, scan: ModelScan
) -> tuple[Causes, Causes, Causes, Causes]:
    """Return why outcomes are not observed: n, n × 5, n × 5 and n × 4 × 5."""
    parts = (scan.independent[:, None], scan.single, scan.full, scan.removal)
    seen = np.hstack([_flat(part) >= 0 for part in parts])
    causes = np.where(seen, _COUNTED, _MISSING).astype(np.int8)
    outcomes = context.records.outcomes
    chosen = (outcomes["study"] == "scan") & (outcomes["model"] == scan.model)
    unobserved = outcomes[(chosen & outcomes["correct"].isna()).to_numpy()]
    row, kept = _rows(scan, unobserved)
    failed = (unobserved["status"] == "failed").to_numpy()[kept]
    causes[row, cell_of(unobserved)[kept]] = np.where(failed, _FAILED, _UNJUDGED)
    ends = np.cumsum([_flat(part).shape[1] for part in parts])[:-1]
    independent, single, full, removal = np.split(causes, ends, axis=1)
    return independent[:, 0], single, full, removal.reshape(scan.removal.shape)


def _flat(judgements: Judgements) -> Judgements:
    return judgements.reshape(len(judgements), -1)


def _rows(
    scan: ModelScan, records: pd.DataFrame
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return the scan's row of each record that is of one of its problems, and which are."""
    codes = records["problem_uid"].cat.codes.to_numpy(np.int64)
    row = np.searchsorted(scan.problem_index, codes)
    kept = scan.problem_index[np.minimum(row, len(scan) - 1)] == codes
    return row[kept], kept


TABLES: Final = MappingProxyType[str, TableFunction]({"left_out": left_out})
