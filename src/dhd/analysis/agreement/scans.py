"""Agreement of two scans on the effect labels of the same messages (paper, Appendix G)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dhd.analysis.agreement.kappa import confusion, kappa
from dhd.analysis.cells import LOO_PAIRS, ModelScan
from dhd.analysis.context import POOLED, Absent, AnalysisContext
from dhd.analysis.frames import frame_of, percent_of

_LABELS: Final = (-1, 0, 1)
#: Stands for an effect that was not observed.
_UNKNOWN: Final = 9

Effects = npt.NDArray[np.int8]


def scan_agreement(first: AnalysisContext, second: AnalysisContext) -> pd.DataFrame:
    """Return how far two scans label the same message removals alike.

    An event is a removal (model, problem, K, message) whose effect, full minus removal, both
    scans observed. Columns: ``model``, ``benchmark`` (and ``pooled``), ``events_n``,
    ``agreement_pct``, ``weighted_kappa`` (linear weights over harmful, neutral, helpful),
    ``quadratic_kappa``, and ``reversals_n``, helpful in one scan and harmful in the other.

    Raises
    ------
    Absent
        When the two records share no observed event.
    """
    ours, theirs = first.require_scans(), second.require_scans()
    rows = [
        {"model": model, "benchmark": benchmark, **_compare(*labels)}
        for model in ours
        if model in theirs
        for benchmark, labels in _shared_labels(first, ours[model], theirs[model])
    ]
    if not rows:
        raise Absent("the two scans share no model, problem and message with observed effects")
    values = ("events_n", "agreement_pct", "weighted_kappa", "quadratic_kappa", "reversals_n")
    return frame_of(rows, ("model", "benchmark", *values))


def _shared_labels(
    context: AnalysisContext, first: ModelScan, second: ModelScan
) -> Iterator[tuple[str, tuple[Effects, Effects]]]:
    """Yield each benchmark, then all, with the labels of the events that both observed."""
    _, ours, theirs = np.intersect1d(
        first.problem_uids.astype(str), second.problem_uids.astype(str), return_indices=True
    )
    a, b = _effects(first)[ours], _effects(second)[theirs]
    observed = (a != _UNKNOWN) & (b != _UNKNOWN)
    if not observed.any():
        return
    for key in context.benchmarks_in(first):
        mine = observed & first.in_benchmark(key)[ours][:, None, None]
        if mine.any():
            yield key, (a[mine], b[mine])
    yield POOLED, (a[observed], b[observed])


def _effects(scan: ModelScan) -> Effects:
    """Return problems × K × messages: the effect, or :data:`_UNKNOWN`."""
    full = scan.full[:, 1:, None]
    observed = (full >= 0) & (scan.removal >= 0) & LOO_PAIRS
    return np.where(observed, full - scan.removal, _UNKNOWN).astype(np.int8)


def _compare(first: Effects, second: Effects) -> dict[str, Any]:
    table = confusion(first, second, _LABELS)
    return {
        "events_n": len(first),
        "agreement_pct": percent_of(int(np.trace(table)), len(first)),
        "weighted_kappa": kappa(table, "linear"),
        "quadratic_kappa": kappa(table, "quadratic"),
        "reversals_n": int(table[0, -1] + table[-1, 0]),
    }
