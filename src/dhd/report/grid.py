"""From a frame and its layout to a grid of cells, the same for every printed format."""

from __future__ import annotations

from dataclasses import dataclass
from string import Formatter
from typing import Any

import pandas as pd

from dhd.analysis.settings import AnalysisSettings
from dhd.report.cells import MISSING, Cell, Fragment, Row, fill
from dhd.report.labels import Labels
from dhd.report.layout import Column, Join, Layout, Spread

_SUMMARY_ROWS = ("pooled", "macro")


@dataclass(frozen=True, slots=True)
class GridColumn:
    """Head, shared head of its group (empty: none) and alignment of a printed column."""

    head: Cell
    group: Cell
    align: str


@dataclass(frozen=True, slots=True)
class GridRow:
    """One printed row; `rule` asks for a line above it."""

    cells: tuple[Cell, ...]
    rule: bool


@dataclass(frozen=True, slots=True)
class Grid:
    """A table ready to print in any format."""

    name: str
    title: str
    caption: Cell
    columns: tuple[GridColumn, ...]
    rows: tuple[GridRow, ...]

    @property
    def grouped(self) -> bool:
        """Tell whether a second line of heads is needed."""
        return any(column.group for column in self.columns)


@dataclass(frozen=True, slots=True)
class _Words(Labels):
    """Labels with a table's own words for summary rows."""

    own: tuple[tuple[str, str], ...] = ()

    def show(self, column: str, value: object) -> str:
        own = dict(self.own)
        # The base is named in full: zero-argument super() breaks in a dataclass with slots.
        return own[str(value)] if str(value) in own else Labels.show(self, column, value)


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False)]


def _scope(layout: Layout, rows: list[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(c for c in layout.scope if len({row[c] for row in rows}) == 1)


def _kept(layout: Layout, scope: tuple[str, ...], frame: pd.DataFrame) -> list[Column]:
    """Return the layout's columns less those named in the caption and those not computed."""
    absent = tuple(column for column in layout.optional if column not in frame.columns)
    dropped = [(f"{{{column}}}",) for column in (*scope, *absent)]
    return [column for column in layout.columns if column.parts not in dropped]


def _caption(
    layout: Layout, settings: AnalysisSettings, scope: tuple[str, ...], first: Row, labels: Labels
) -> Cell:
    fragments: list[Fragment] = []
    for literal, field, spec, _ in Formatter().parse(layout.caption):
        fragments.append(Fragment(literal))
        if field == "scope":
            names = [Fragment(labels.show(c, first[c]), foreign=True) for c in scope]
            for position, name in enumerate(names):
                fragments += [Fragment(", " if position else " ("), name]
            fragments += [Fragment(")")] * bool(names)
        elif field is not None:
            fragments.append(Fragment(format(getattr(settings, field), spec or "")))
    return tuple(fragments)


def _groups(rows: list[dict[str, Any]], keys: tuple[str, ...]) -> list[list[dict[str, Any]]]:
    """Group rows by `keys`, in order of first appearance."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[k] for k in keys), []).append(row)
    return list(groups.values())


def _spread_cells(
    spread: Spread, values: list[Any], group: list[dict[str, Any]], labels: Labels
) -> list[Cell]:
    by_value = {row[spread.by]: row for row in group}
    return [
        fill(column.parts, by_value[v], labels) if v in by_value else MISSING
        for v in values
        for column in spread.columns
    ]


def _join_cell(join: Join, group: list[dict[str, Any]], labels: Labels) -> Cell:
    by_value = {row[join.by]: row for row in group}
    cells = [
        fill((join.part,), by_value[v], labels) if v in by_value else MISSING for v in join.over
    ]
    if all(cell == MISSING for cell in cells):
        return MISSING
    joined = list(cells[0])
    for cell in cells[1:]:
        joined += [Fragment("/"), *cell]
    return tuple(joined)


def _head(text: str) -> Cell:
    return (Fragment(text),) if text else ()


def _spread_heads(spread: Spread, values: list[Any], labels: Labels) -> list[GridColumn]:
    names = [fill((spread.head,), {spread.by: v}, labels) for v in values]
    if len(spread.columns) == 1 and not spread.columns[0].header:
        return [GridColumn(name, (), spread.columns[0].align) for name in names]
    return [
        GridColumn(_head(column.header), name, column.align)
        for name in names
        for column in spread.columns
    ]


def _heads(
    layout: Layout, kept: list[Column], values: list[Any], labels: Labels
) -> tuple[GridColumn, ...]:
    columns = [GridColumn(_head(c.header), _head(c.group), c.align) for c in kept]
    if layout.spread is not None:
        columns += _spread_heads(layout.spread, values, labels)
    columns += [GridColumn(_head(join.header), (), "r") for join in layout.joins]
    return tuple(columns)


def _ruled(layout: Layout, row: Row, previous: Row | None) -> bool:
    if previous is None:
        return False
    if layout.block and row[layout.block] != previous[layout.block]:
        return True
    summary = row.get("benchmark") in _SUMMARY_ROWS
    return summary and previous.get("benchmark") not in _SUMMARY_ROWS


def build_grid(
    name: str, frame: pd.DataFrame, layout: Layout, settings: AnalysisSettings, note: Cell = ()
) -> Grid:
    """Lay `frame` out for print.

    Parameters
    ----------
    name
        Name of the table, e.g. ``table_18``.
    frame
        Raw keys and unrounded numbers, columns as in the published CSV of that name. Its order
        of rows is the printed order.
    layout
        How the paper prints it.
    settings
        Display names, and the numbers that captions quote.
    note
        What follows the caption.

    Raises
    ------
    KeyError
        When the frame lacks a column that the layout prints.
    """
    labels = _Words(settings, tuple(layout.words.items()))
    rows = _records(frame)
    scope = _scope(layout, rows)
    kept = _kept(layout, scope, frame)
    values: list[Any] = []
    if layout.spread is not None:
        values = list(dict.fromkeys(row[layout.spread.by] for row in rows))
    groups = _groups(rows, layout.keys) if layout.keys else [[row] for row in rows]
    printed = []
    previous: Row | None = None
    for group in groups:
        cells = [fill(column.parts, group[0], labels) for column in kept]
        if layout.spread is not None:
            cells += _spread_cells(layout.spread, values, group, labels)
        cells += [_join_cell(join, group, labels) for join in layout.joins]
        printed.append(GridRow(tuple(cells), _ruled(layout, group[0], previous)))
        previous = group[0]
    caption = _caption(layout, settings, scope, rows[0] if rows else {}, labels)
    heads = _heads(layout, kept, values, labels)
    return Grid(name, layout.title, (*caption, *note), heads, tuple(printed))
