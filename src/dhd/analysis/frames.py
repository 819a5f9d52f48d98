"""Building table rows over models and benchmarks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dhd.analysis.bootstrap import FloatArray, ratio
from dhd.analysis.cells import ModelScan
from dhd.analysis.context import POOLED, AnalysisContext

PERCENT: Final = 100.0


@dataclass(frozen=True)
class Slice:
    """The problems of one model's scan that one table row is about.

    Attributes
    ----------
    model, benchmark
        Keys of the row; the benchmark may be ``pooled``.
    scan
        The model's scan.
    problems
        Marks the problems; n.
    """

    model: str
    benchmark: str
    scan: ModelScan
    problems: npt.NDArray[np.bool_]


def slices(
    context: AnalysisContext, *, benchmarks: bool = True, pooled: bool = True
) -> Iterator[Slice]:
    """Yield the slices of every model's scan: its benchmarks in table order, then all of them.

    Raises
    ------
    Absent
        When no model has a scan.
    """
    for model, scan in context.require_scans().items():
        if benchmarks:
            for key in context.benchmarks_in(scan):
                yield Slice(model, key, scan, scan.in_benchmark(key))
        if pooled:
            yield Slice(model, POOLED, scan, np.ones(len(scan), dtype=np.bool_))


def percent(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> FloatArray:
    """Return 100 × numerator / denominator, NaN where the denominator is zero."""
    return PERCENT * ratio(numerator, denominator)


def percent_of(count: int, total: int) -> float:
    """Return 100 × count / total, NaN when the total is zero."""
    return float(percent(count, total))


def frame_of(rows: list[dict[str, Any]], columns: tuple[str, ...]) -> pd.DataFrame:
    """Return rows as a frame with the given columns in order, also when there is no row."""
    return pd.DataFrame(rows, columns=list(columns))


def key_of(row: Slice) -> Mapping[str, str]:
    """Return the key columns of a slice."""
    return {"model": row.model, "benchmark": row.benchmark}
