"""Accuracy and sample flow: Tables 1, 2, 5, 6 and Figure 6."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dhd.analysis.cells import Judgements
from dhd.analysis.context import MACRO, POOLED, AnalysisContext, TableFunction
from dhd.analysis.frames import Slice, frame_of, key_of, percent_of, slices
from dhd.messages import POOL_SIZE


def table_01(context: AnalysisContext) -> pd.DataFrame:
    """Return protocol accuracy at K = 0 and 5 with its difference (paper Table 1)."""
    by_k = context.table("table_06", table_06)
    keys = ["model", "benchmark"]
    first, last = (by_k[by_k["k"] == k].set_index(keys) for k in (0, POOL_SIZE))
    rows = pd.DataFrame(
        {
            "k0_accuracy_pct": first["accuracy_pct"],
            "k5_accuracy_pct": last["accuracy_pct"],
            "delta_pp": last["accuracy_pct"] - first["accuracy_pct"],
            "problems_n": first["problems_n"],
        }
    )
    return rows.reset_index()


def table_02(context: AnalysisContext) -> pd.DataFrame:
    """Return the benchmarks with their number of problems (paper Table 2).

    ``answer_formats`` lists the formats that occur.
    """
    problems = context.records.problems
    formats = problems.groupby("benchmark", observed=True)["answer_format"]
    sizes, kinds = formats.size(), formats.agg(lambda found: ", ".join(sorted(set(found))))
    order = list(context.order_benchmarks(sizes.index))
    return pd.DataFrame(
        {
            "benchmark": order,
            "problems_n": [int(sizes[key]) for key in order],
            "answer_formats": [str(kinds[key]) for key in order],
        }
    )


def table_05(context: AnalysisContext) -> pd.DataFrame:
    """Return protocol and LOO samples with their accuracies (paper Table 5).

    Accuracies of the pooled row are left blank, as in the paper: a mean over problems would
    weigh the benchmarks by their sizes.
    """
    rows: list[dict[str, Any]] = []
    for row in slices(context):
        sample = row.scan.sample
        rows.append(
            {
                **key_of(row),
                "protocol_n": int(row.problems.sum()),
                "loo_eligible_n": int((row.problems & sample.loo_eligible).sum()),
                "complete_n": int((row.problems & sample.complete).sum()),
                "partial_n": int((row.problems & sample.partial).sum()),
                "missing_pairs_n": int(sample.missing_pairs[row.problems].sum()),
                **(_accuracies(row) if row.benchmark != POOLED else {}),
            }
        )
    counts = ("protocol_n", "loo_eligible_n", "complete_n", "partial_n", "missing_pairs_n")
    accuracies = tuple(
        f"{sample}_k{k}_accuracy_pct" for sample in ("protocol", "complete") for k in (0, POOL_SIZE)
    )
    return frame_of(rows, ("model", "benchmark", *counts, *accuracies))


def table_06(context: AnalysisContext) -> pd.DataFrame:
    """Return protocol accuracy at K = 0…5 by benchmark, and its macro average (paper Table 6).

    Every problem of the model's scan counts; a missing outcome counts as incorrect.
    """
    rows: list[dict[str, Any]] = []
    for model, scan in context.require_scans().items():
        sizes = range(POOL_SIZE + 1)
        by_benchmark = []
        for key in context.benchmarks_in(scan):
            problems = scan.in_benchmark(key)
            accuracy = [_accuracy(_final(scan.independent, scan.full, k), problems) for k in sizes]
            by_benchmark.append(accuracy)
            rows += _accuracy_rows(model, key, accuracy, int(problems.sum()))
        macro = [float(value) for value in np.mean(by_benchmark, axis=0)]
        rows += _accuracy_rows(model, MACRO, macro, len(scan))
    return frame_of(rows, ("model", "benchmark", "k", "accuracy_pct", "problems_n"))


def figure_06(context: AnalysisContext) -> pd.DataFrame:
    """Return accuracy and candidate availability of complete problems (paper Figure 6).

    A candidate is available when any of the five proposed answers is judged correct. A missing
    independent outcome counts as incorrect.
    """
    rows: list[dict[str, Any]] = []
    for row in slices(context, pooled=False):
        scan, problems = row.scan, row.problems & row.scan.sample.complete
        available = (scan.proposal_correct == 1).any(axis=1)
        rows.append(
            {
                **key_of(row),
                "k0_accuracy_pct": _accuracy(scan.independent, problems),
                "k5_accuracy_pct": _accuracy(scan.full[:, -1], problems),
                "candidate_available_pct": _share(available, problems),
                "problems_n": int(problems.sum()),
            }
        )
    columns = ("k0_accuracy_pct", "k5_accuracy_pct", "candidate_available_pct", "problems_n")
    return frame_of(rows, ("model", "benchmark", *columns))


def _final(independent: Judgements, full: Judgements, k: int) -> Judgements:
    return independent if k == 0 else full[:, k - 1]


def _accuracy(judgements: Judgements, problems: npt.NDArray[np.bool_]) -> float:
    """Percent correct among the marked problems; missing counts as incorrect."""
    return _share(judgements == 1, problems)


def _share(holds: npt.NDArray[np.bool_], problems: npt.NDArray[np.bool_]) -> float:
    return percent_of(int((holds & problems).sum()), int(problems.sum()))


def _accuracies(row: Slice) -> dict[str, float]:
    samples = {"protocol": row.problems, "complete": row.problems & row.scan.sample.complete}
    return {
        f"{name}_k{k}_accuracy_pct": _accuracy(
            _final(row.scan.independent, row.scan.full, k), problems
        )
        for name, problems in samples.items()
        for k in (0, POOL_SIZE)
    }


def _accuracy_rows(
    model: str, benchmark: str, accuracy: list[float], problems_n: int
) -> list[dict[str, Any]]:
    return [
        {
            "model": model,
            "benchmark": benchmark,
            "k": k,
            "accuracy_pct": value,
            "problems_n": problems_n,
        }
        for k, value in enumerate(accuracy)
    ]


TABLES: Final = MappingProxyType[str, TableFunction](
    {
        "table_01": table_01,
        "table_02": table_02,
        "table_05": table_05,
        "table_06": table_06,
        "figure_06": figure_06,
    }
)
