"""The layout of every table: the paper's for its 28, one made from column names for the rest."""

from __future__ import annotations

import pandas as pd

from dhd.report.layout import Column, Layout, key, value
from dhd.report.layouts_repeats import REPEAT_LAYOUTS
from dhd.report.layouts_scan import SCAN_LAYOUTS

PAPER_LAYOUTS: dict[str, Layout] = {**SCAN_LAYOUTS, **REPEAT_LAYOUTS}

_CAPTIONS = {
    "quality": "Rows of each stage by status. Expected is what the problems that the stage touches "
    "need; missing are expected rows that are not there, failed and unjudged ones are.",
    "left_out": "What the six-cell tables count and leave out: problems, single-message effects, "
    "leave-one-out effects (K=2–5). One that is left out has one reason, the first that applies: "
    "missing (no such row), failed (the request), unjudged (no verdict), no answer (a message "
    "without one). A problem that is left out takes its effects with it.",
}
_SUFFIXES = {"_pct": (" (%)", ".1f"), "_pp": (" (pp)", ".2f"), "_n": (" (n)", "n")}


def _plain_column(name: str, frame: pd.DataFrame) -> Column:
    head = name.replace("_", " ")
    if not pd.api.types.is_numeric_dtype(frame[name]):
        return key(head, f"{{{name}}}")
    for suffix, (unit, spec) in _SUFFIXES.items():
        if name.endswith(suffix):
            return value(head.removesuffix(suffix.replace("_", " ")) + unit, f"{{{name}:{spec}}}")
    if pd.api.types.is_integer_dtype(frame[name]):
        return value(head, f"{{{name}:n}}")
    return value(head, f"{{{name}:w}}")


def layout_of(name: str, frame: pd.DataFrame) -> Layout:
    """Return the layout of the table `name`; without one in the paper, every column as it is."""
    if name in PAPER_LAYOUTS:
        return PAPER_LAYOUTS[name]
    kind, _, number = name.partition("_")
    if kind == "figure" and number.isdigit():
        title, caption = f"Figure {int(number)}", "Numbers behind the figure."
    else:
        title = name.replace("_", " ").capitalize()
        caption = _CAPTIONS.get(name, "All columns of the CSV file.")
    columns = tuple(_plain_column(str(column), frame) for column in frame.columns)
    return Layout(title, caption, columns, block="model" if "model" in frame.columns else "")
