r"""Grids as LaTeX: booktabs tables to ``\input`` into a paper."""

from __future__ import annotations

from itertools import groupby

from dhd.report import escape
from dhd.report.cells import Cell, plain
from dhd.report.grid import Grid

PREAMBLE = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp,booktabs,longtable}
"""
"""What a document needs to load before it inputs one of the tables."""

# A float cannot break over pages; beyond this many rows a longtable is used.
_MAX_FLOAT_ROWS = 50
# One column of a two-column paper in points; what is wider spans both. The estimate takes the
# mean width of a character in \small and twice the space beside a column.
_COLUMN_PT = 238.0
_CHARACTER_PT = 4.8
_GAP_PT = 8.0


def _text(cell: Cell) -> str:
    return "".join(escape.latex(fragment.text) for fragment in cell)


def _line(cells: list[str]) -> str:
    # A row that starts with "[" or "*" would be read as an argument of the "\\" before it.
    return " & ".join(f"{{}}{c}" if c[:1] in ("[", "*") else c for c in cells) + r" \\"


def _group_heads(grid: Grid) -> list[str]:
    cells, rules, position = [], [], 1
    for group, columns in groupby(grid.columns, key=lambda column: column.group):
        width = len(list(columns))
        if group:
            cells.append(rf"\multicolumn{{{width}}}{{c}}{{{_text(group)}}}")
            rules.append(rf"\cmidrule(lr){{{position}-{position + width - 1}}}")
        else:
            cells += [""] * width
        position += width
    return [_line(cells), "".join(rules)]


def _head(grid: Grid) -> list[str]:
    lines = [r"\toprule"]
    if grid.grouped:
        lines += _group_heads(grid)
    return [*lines, _line([_text(column.head) for column in grid.columns]), r"\midrule"]


def _body(grid: Grid) -> list[str]:
    lines = []
    for row in grid.rows:
        if row.rule:
            lines.append(r"\midrule")
        lines.append(_line([_text(cell) for cell in row.cells]))
    return lines


def _width_pt(grid: Grid) -> float:
    """Estimate the printed width of a table."""
    lines = [[column.head for column in grid.columns], *(row.cells for row in grid.rows)]
    longest = [max(len(plain(cell)) for cell in cells) for cells in zip(*lines, strict=True)]
    return sum(longest) * _CHARACTER_PT + (len(longest) - 1) * _GAP_PT


def latex_table(grid: Grid) -> str:
    r"""Return `grid` as a ``table``, ``table*`` or, when long, ``longtable`` environment.

    The numbering is the paper's own: the caption carries no number, the label is
    ``tab:<name>``. `PREAMBLE` names the packages needed.
    """
    spec = "@{}" + "".join(column.align for column in grid.columns) + "@{}"
    caption = rf"\caption{{{_text(grid.caption)}}}\label{{tab:{grid.name}}}"
    note = f"% {grid.title}; needs fontenc (T1), textcomp, booktabs, longtable"
    if len(grid.rows) > _MAX_FLOAT_ROWS:
        lines = [
            note,
            rf"{{\small\begin{{longtable}}{{{spec}}}",
            caption + r" \\",
            *_head(grid),
            r"\endhead",
            r"\bottomrule",
            r"\endlastfoot",
            *_body(grid),
            r"\end{longtable}}",
        ]
    else:
        environment = "table*" if _width_pt(grid) > _COLUMN_PT else "table"
        lines = [
            note,
            rf"\begin{{{environment}}}[t]",
            r"\centering\small\setlength{\tabcolsep}{4pt}",
            caption,
            rf"\begin{{tabular}}{{{spec}}}",
            *_head(grid),
            *_body(grid),
            r"\bottomrule",
            r"\end{tabular}",
            rf"\end{{{environment}}}",
        ]
    return "\n".join(lines) + "\n"
