"""How a table is laid out, as data: columns, cell templates, groups, what is spread sideways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Column:
    """A printed column.

    Attributes
    ----------
    header
        Head of the column.
    parts
        Templates of its cells (`dhd.report.cells.fill`).
    group
        Head that adjacent columns of the same group share, or empty.
    """

    header: str
    parts: tuple[str, ...]
    align: Literal["l", "r"] = "r"
    group: str = ""


def value(header: str, *parts: str, group: str = "") -> Column:
    """Return a right-aligned column."""
    return Column(header, parts, "r", group)


def key(header: str, *parts: str) -> Column:
    """Return a left-aligned column."""
    return Column(header, parts, "l")


@dataclass(frozen=True, slots=True)
class Spread:
    """Rows of the frame that stand side by side in print, one group of columns a value of `by`."""

    by: str
    columns: tuple[Column, ...]
    header: str = ""

    @property
    def head(self) -> str:
        """Template of the group's head; by default the display name of its value."""
        return self.header or f"{{{self.by}}}"


@dataclass(frozen=True, slots=True)
class Join:
    """A column whose cell lists one number for each of several rows: ``17/20/10/0``."""

    header: str
    by: str
    over: tuple[str, ...]
    part: str


@dataclass(frozen=True, slots=True)
class Layout:
    """A printed table.

    Attributes
    ----------
    title
        ``Table 3``.
    caption
        May name settings of the analysis (``{bootstrap_resamples:,d}``) and ``{scope}``.
    columns
        The columns that hold one row of the frame, or what the spread rows have in common.
    keys
        Columns of the frame that tell printed rows apart; needed with `spread` or `joins`.
    scope
        Key columns that are named in the caption instead where all rows agree.
    block
        Column of the frame at whose change a rule is drawn.
    optional
        Columns of the frame that it may lack; what prints them is left out then.
    words
        Display names that differ in this table, e.g. ``{"pooled": "Total"}``.
    """

    title: str
    caption: str
    columns: tuple[Column, ...]
    keys: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    block: str = "model"
    spread: Spread | None = None
    joins: tuple[Join, ...] = ()
    optional: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
