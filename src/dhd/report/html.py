"""Grids as HTML, and a self-contained page to hold them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from dhd.report.cells import Cell, plain
from dhd.report.escape import html_text
from dhd.report.grid import Grid

_STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:72em;padding:0 1em;"
    "color:#1a1a1a;background:#fff}"
    "table{border-collapse:collapse;margin:.5em 0 2em;font-size:13px;"
    "font-variant-numeric:tabular-nums}"
    "caption{text-align:left;padding:.4em 0;max-width:60em}"
    "th,td{padding:.15em .7em;text-align:left}th{border-bottom:1px solid #555}"
    ".r{text-align:right}.c{text-align:center}"
    "tr.rule td{border-top:1px solid #aaa}"
    "tr.mark td{background:#fde7c7;font-weight:600}"
)


def _text(cell: Cell) -> str:
    return html_text(plain(cell))


def _group_heads(grid: Grid) -> str:
    cells = []
    for group, columns in groupby(grid.columns, key=lambda column: column.group):
        width = len(list(columns))
        cells.append(f'<th class="c" colspan="{width}">{_text(group)}</th>')
    return "<tr>" + "".join(cells) + "</tr>"


def html_table(grid: Grid, marked: frozenset[int] = frozenset()) -> str:
    """Return `grid` as a ``<table>``; rows whose positions are in `marked` stand out."""
    aligns = ["r" if column.align == "r" else "l" for column in grid.columns]
    heads = "".join(
        f'<th class="{align}" scope="col">{_text(column.head)}</th>'
        for align, column in zip(aligns, grid.columns, strict=True)
    )
    lines = [
        f'<table id="{html_text(grid.name)}">',
        f"<caption><b>{html_text(grid.title)}.</b> {_text(grid.caption)}</caption>",
        "<thead>" + (_group_heads(grid) if grid.grouped else "") + f"<tr>{heads}</tr></thead>",
        "<tbody>",
    ]
    for position, row in enumerate(grid.rows):
        classes = " ".join(["rule"] * row.rule + ["mark"] * (position in marked))
        cells = "".join(
            f'<td class="{align}">{_text(cell)}</td>'
            for align, cell in zip(aligns, row.cells, strict=True)
        )
        lines.append(f'<tr class="{classes}">{cells}</tr>' if classes else f"<tr>{cells}</tr>")
    return "\n".join([*lines, "</tbody></table>"]) + "\n"


def html_page(title: str, parts: Iterable[str]) -> str:
    """Return a page without scripts or outside resources around `parts`, which are HTML."""
    head = (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{html_text(title)}</title><style>{_STYLE}</style></head><body>\n"
        f"<h1>{html_text(title)}</h1>\n"
    )
    return head + "\n".join(parts) + "</body></html>\n"
