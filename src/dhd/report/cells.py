"""One table cell: a template filled with a frame's row, kept apart from what others wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any

import pandas as pd

from dhd.report.labels import Labels

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of cell text; `foreign` text came from records or a config and is escaped fully."""

    text: str
    foreign: bool = False


Cell = tuple[Fragment, ...]
#: From here on four significant digits would be printed with an exponent.
_FOUR_DIGITS = 9999.5
MISSING: Cell = (Fragment("–"),)


def plain(cell: Cell) -> str:
    """Return the cell's text without any escaping."""
    return "".join(fragment.text for fragment in cell)


def is_missing(value: object) -> bool:
    """Tell whether a frame's value, a scalar, is missing (None, NaN, pandas.NA or blank)."""
    return bool(pd.isna(value)) or value == ""


def number(value: float, spec: str) -> str:
    """Format `value`, with U+2212 as the minus sign.

    `spec` is Python's, or ``n``: a count with thousands commas, decimals only where it has some
    (bounds of a count range may lie between two counts), or ``w``: whole and large numbers in
    full, without commas (it may be a seed), others with four digits.
    """
    if spec == "w":
        is_whole = float(value).is_integer() or abs(float(value)) >= _FOUR_DIGITS
        spec = ".0f" if is_whole else ".4g"
    if spec == "n":
        spec = ",.0f" if round(float(value), 1).is_integer() else ",.1f"
    # Rounding must not leave a negative zero: "z" turns it into 0.
    spec = spec.replace(",.", "z,.") if "," in spec else spec.replace(".", "z.")
    return format(float(value), spec).replace("-", "−")


def _part(template: str, row: Row, labels: Labels) -> Cell | None:
    fragments: list[Fragment] = []
    for literal, column, spec, _ in Formatter().parse(template):
        if literal:
            fragments.append(Fragment(literal))
        if column is None:
            continue
        value = row[column]
        if is_missing(value):
            return None
        if spec:
            fragments.append(Fragment(number(value, spec)))
        else:
            fragments.append(Fragment(labels.show(column, value), foreign=True))
    return tuple(fragments)


def fill(parts: Iterable[str], row: Row, labels: Labels) -> Cell:
    """Fill the templates of one cell and join them with spaces.

    Parameters
    ----------
    parts
        Templates such as ``"{gain_pp:+.2f}"``: a field with a format is a number, one without is
        a key, shown by its display name. A part with a missing value is left out.
    row
        One row of a frame.

    Returns
    -------
    Cell
        `MISSING` when no part is left.
    """
    filled = [cell for part in parts if (cell := _part(part, row, labels)) is not None]
    if not filled:
        return MISSING
    joined = list(filled[0])
    for cell in filled[1:]:
        joined += [Fragment(" "), *cell]
    return tuple(joined)
