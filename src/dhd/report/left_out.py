"""What the six-cell tables leave out, in words: beside the printed tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import pandas as pd

from dhd.report.cells import Cell, Fragment
from dhd.report.labels import Labels

TABLE: Final = "left_out"
#: Columns of reasons, with what they say of one thing.
REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "missing_n": "missing",
        "failed_n": "failed",
        "unjudged_n": "unjudged",
        "no_answer_n": "without an answer",
    }
)
_UNITS: Final[Mapping[str, str]] = MappingProxyType(
    {"problem": "problems", "single": "single-message effects", "loo": "leave-one-out effects"}
)
_PROBLEMS, _SINGLE, _LOO = ("problem",), ("problem", "single"), ("problem", "loo")
#: What each table or figure with a note counts; Table 3 and Figure 6 have K = 5 alone.
NOTED: Final[Mapping[str, Sequence[str]]] = MappingProxyType(
    {
        "table_03": _PROBLEMS,
        "table_04": tuple(_UNITS),
        "table_08": _SINGLE,
        "table_09": _LOO,
        "table_10": _LOO,
        "figure_04": _LOO,
        "figure_06": _PROBLEMS,
        "figure_07": _LOO,
        "figure_08": _LOO,
    }
)
_WHOLE: Final = (
    " A problem is left out as a whole when its pool does not qualify or an in-pool outcome that "
    "it needs is not observed."
)


def left_out_note(name: str, tables: Mapping[str, pd.DataFrame], labels: Labels) -> Cell:
    """Return what a table or figure counts and leaves out, and why, for its caption.

    Parameters
    ----------
    name
        Name of the table or figure; those without a note (`NOTED`) get nothing.
    tables
        Computed tables by name; without ``left_out`` among them there is no note.
    """
    if name not in NOTED or TABLE not in tables:
        return ()
    table = tables[TABLE]
    pooled = table[(table["benchmark"] == "pooled") & table["unit"].isin(NOTED[name])]
    note: list[Fragment] = []
    for model, rows in pooled.groupby("model", sort=False):
        counted = ", ".join(_counted(row) for row in rows.to_dict("records"))
        note += [Fragment(" "), Fragment(labels.show("model", model), foreign=True)]
        note.append(Fragment(f": {counted}."))
    is_left = bool((pooled["counted_n"] < pooled["all_n"]).any())
    return (Fragment(" Counted are:"), *note, *([Fragment(_WHOLE)] if is_left else []))


def _counted(row: Mapping[str, Any]) -> str:
    """Return ``95 of 100 single-message effects (left out: 5 unjudged)``."""
    reasons = ", ".join(f"{row[name]:,} {word}" for name, word in REASONS.items() if row[name])
    why = f" (left out: {reasons})" if reasons else ""
    return f"{row['counted_n']:,} of {row['all_n']:,} {_UNITS[row['unit']]}{why}"
