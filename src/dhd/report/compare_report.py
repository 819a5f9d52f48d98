"""The comparison with the published numbers as Markdown, HTML and CSV."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import pandas as pd

from dhd.report.cells import MISSING, Cell, Fragment
from dhd.report.compare import Comparison, Interval, OneSided, Outcome
from dhd.report.frames import csv_bytes
from dhd.report.grid import Grid, GridColumn, GridRow
from dhd.report.html import html_page, html_table
from dhd.report.markdown import markdown_table
from dhd.wording import number_of

_HEADS = ("Row", "Quantity", "Published", "Ours", "Difference", "Distance", "Intervals", "Verdict")
_LISTED = 4
_TITLE = "Comparison with the published numbers"


def _own(text: str) -> Cell:
    return (Fragment(text),) if text else ()


def _number(value: float) -> str:
    return f"{value:,.6g}".replace("-", "−")


def _value(value: float | None, interval: Interval | None) -> Cell:
    parts = [] if value is None else [_number(value)]
    if interval is not None:
        parts.append(f"[{_number(interval[0])}, {_number(interval[1])}]")
    return _own(" ".join(parts)) if parts else MISSING


def _row(item: Comparison, tolerance: float) -> GridRow:
    difference: Cell = ()
    if item.published is not None and item.ours is not None:
        gap = item.ours - item.published
        difference = _own(("+" if gap > 0 else "") + _number(round(gap, 10)))
    overlap = {None: "", True: "overlap", False: "disjoint"}[item.overlap]
    return GridRow(
        (
            (Fragment(item.row, foreign=True),),
            (Fragment(item.column, foreign=True),),
            _value(item.published, item.published_interval),
            _value(item.ours, item.our_interval),
            difference,
            _own(f"{item.distance:.3g} {item.unit}"),
            _own(overlap),
            _own("exceeds" if item.exceeds(tolerance) else "within"),
        ),
        rule=False,
    )


def _title(table: str) -> str:
    kind, _, number = table.partition("_")
    return f"{kind.capitalize()} {int(number)}" if number.isdigit() else "Text claims"


def _table_grid(table: str, items: list[Comparison], tolerance: float) -> Grid:
    above = sum(item.exceeds(tolerance) for item in items)
    compared = number_of(len(items), "number")
    caption = _own(f"{compared} compared; above the tolerance of {tolerance:g}: {above}.")
    aligns = ("l", "l", "r", "r", "r", "r", "l", "l")
    columns = tuple(GridColumn(_own(h), (), a) for h, a in zip(_HEADS, aligns, strict=True))
    return Grid(
        table, _title(table), caption, columns, tuple(_row(item, tolerance) for item in items)
    )


def _one_sided_grid(items: Sequence[OneSided]) -> Grid:
    """Return one row a table and side, with the first things that the other side lacks."""
    found: dict[tuple[str, str], list[str]] = {}
    for item in items:
        found.setdefault((item.table, item.side), []).append(item.what)
    rows = tuple(
        GridRow(
            (_own(table), _own(f"only {side}"), (Fragment(_some(what), foreign=True),)), rule=False
        )
        for (table, side), what in found.items()
    )
    columns = tuple(GridColumn(_own(head), (), "l") for head in ("Table", "Side", "What"))
    caption = _own("Not compared: the other side does not have it.")
    return Grid("one_sided", "On one side only", caption, columns, rows)


def _some(things: Sequence[str]) -> str:
    more = f"; and {len(things) - _LISTED:,} more" if len(things) > _LISTED else ""
    return "; ".join(things[:_LISTED]) + more


def summary(outcome: Outcome, tolerance: float) -> str:
    """Return one sentence about the comparison."""
    above = sum(item.exceeds(tolerance) for item in outcome.compared)
    disjoint = sum(item.overlap is False for item in outcome.compared)
    if not outcome.compared:
        return "Nothing to compare: no measured number is on both sides."
    exceed = "exceeds" if above == 1 else "exceed"
    pairs = f"{number_of(disjoint, 'pair')} of intervals {'is' if disjoint == 1 else 'are'}"
    return (
        f"{number_of(len(outcome.compared), 'measured number')} compared: {above} {exceed} the "
        f"tolerance of {tolerance:g}, {pairs} disjoint; on one side only: "
        f"{len(outcome.one_sided)} of the rows, columns and tables."
    )


_EXPLANATION = (
    "Distance: percentage points for rates; percent of the published number for counts from 100 "
    "on, tokens and calls; counts below 100; hundredths for all others. It is the largest of "
    "value and interval bounds. Published numbers are rounded as printed. Seeds, settings and "
    "sizes that were chosen are not compared, numbers over all models only where both sides have "
    "the same ones."
)


def _csv(outcome: Outcome, tolerance: float) -> bytes:
    rows = [
        {
            "table": item.table,
            "row": item.row,
            "column": item.column,
            "published": item.published,
            "ours": item.ours,
            "distance": item.distance,
            "unit": item.unit,
            "intervals_overlap": {None: None, True: "yes", False: "no"}[item.overlap],
            "exceeds": "yes" if item.exceeds(tolerance) else "no",
        }
        for item in outcome.compared
    ]
    columns = ["table", "row", "column", "published", "ours", "distance", "unit"]
    columns += ["intervals_overlap", "exceeds"]
    return csv_bytes(pd.DataFrame(rows, columns=columns))


def render_comparison(outcome: Outcome, tolerance: float) -> dict[str, bytes]:
    """Return ``comparison.md``, ``comparison.html`` and ``comparison.csv``, by name."""
    by_table = [
        (table, list(items)) for table, items in groupby(outcome.compared, lambda item: item.table)
    ]
    grids = [_table_grid(table, items, tolerance) for table, items in by_table]
    marks = [
        frozenset(i for i, item in enumerate(items) if item.exceeds(tolerance))
        for _, items in by_table
    ]
    if outcome.compared and outcome.one_sided:
        grids.append(_one_sided_grid(outcome.one_sided))
        marks.append(frozenset())
    first = summary(outcome, tolerance)
    text = "\n".join(
        [f"# {_TITLE}\n", f"{first}\n", f"{_EXPLANATION}\n", *map(markdown_table, grids)]
    )
    parts = [f"<p>{first}</p>", f"<p>{_EXPLANATION}</p>"]
    parts += [html_table(grid, marked) for grid, marked in zip(grids, marks, strict=True)]
    return {
        "comparison.md": text.encode(),
        "comparison.html": html_page(_TITLE, parts).encode(),
        "comparison.csv": _csv(outcome, tolerance),
    }
