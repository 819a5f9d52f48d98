"""Grids as Markdown: a caption line and a pipe table."""

from __future__ import annotations

from collections.abc import Sequence

from dhd.report import escape
from dhd.report.cells import Cell
from dhd.report.grid import Grid, GridColumn


def markdown_text(cell: Cell) -> str:
    """Return a cell's Markdown; only text that others wrote is escaped in full."""
    return "".join(
        escape.markdown(f.text) if f.foreign else f.text.replace("|", "\\|") for f in cell
    )


def _heads(columns: Sequence[GridColumn]) -> list[str]:
    """Return the heads; a group's stands before its first column's, as there is one line alone."""
    heads, before = [], None
    for column in columns:
        group = "" if column.group == before else markdown_text(column.group)
        heads.append(": ".join(filter(None, (group, markdown_text(column.head)))))
        before = column.group
    return heads


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def markdown_table(grid: Grid) -> str:
    """Return `grid` as a pipe table under its caption; a group's head is in its first column's."""
    lines = [
        f"**{escape.markdown(grid.title)}.** {markdown_text(grid.caption)}",
        "",
        _line(_heads(grid.columns)),
        _line(["---:" if column.align == "r" else ":---" for column in grid.columns]),
        *(_line([markdown_text(cell) for cell in row.cells]) for row in grid.rows),
    ]
    return "\n".join(lines) + "\n"
