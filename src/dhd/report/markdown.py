"""Grids as Markdown: a caption line and a pipe table."""

from __future__ import annotations

from dhd.report import escape
from dhd.report.cells import Cell
from dhd.report.grid import Grid, GridColumn


def markdown_text(cell: Cell) -> str:
    """Return a cell's Markdown; only text that others wrote is escaped in full."""
    return "".join(
        escape.markdown(f.text) if f.foreign else f.text.replace("|", "\\|") for f in cell
    )


def _head(column: GridColumn) -> str:
    return " ".join(filter(None, (markdown_text(column.group), markdown_text(column.head))))


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def markdown_table(grid: Grid) -> str:
    """Return `grid` as a pipe table under its caption; a group's head goes before its columns'."""
    lines = [
        f"**{escape.markdown(grid.title)}.** {markdown_text(grid.caption)}",
        "",
        _line([_head(column) for column in grid.columns]),
        _line(["---:" if column.align == "r" else ":---" for column in grid.columns]),
        *(_line([markdown_text(cell) for cell in row.cells]) for row in grid.rows),
    ]
    return "\n".join(lines) + "\n"
