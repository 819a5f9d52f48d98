"""The shapes of mathematical answers: scalars, sequences, intervals, relations and the rest."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from dhd.answers.tree import Expr


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value. ``mark`` is ``%``, ``deg``, ``rad``, a unit's text, or empty.

    ``last_place`` is the value of the last digit of a decimal literal with a point, else None.
    """

    tree: Expr
    mark: str = ""
    last_place: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Sequence:
    """Several answers: ``tuple`` (ordered), ``bracket`` (``[a, b]``), ``set`` or ``list``."""

    kind: Literal["tuple", "bracket", "set", "list"]
    items: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Interval:
    """A real interval; an end of None is unbounded."""

    low: Expr | None
    high: Expr | None
    low_closed: bool = False
    high_closed: bool = False


@dataclass(frozen=True, slots=True)
class RealSet:
    """A union of intervals in ascending order as written, with the variable it is about."""

    intervals: tuple[Interval, ...]
    variable: str = ""


@dataclass(frozen=True, slots=True)
class Equation:
    """``left = right``; ``name`` is the left side where it is a plain name or ``f(x)``."""

    left: Expr | None
    right: Answer
    name: str = ""
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Inequality:
    """A relation that is not solved for one variable: ``left < right`` or ``left <= right``."""

    left: Expr
    right: Expr
    strict: bool


@dataclass(frozen=True, slots=True)
class Ratio:
    """Terms joined by colons: a ratio or a clock time."""

    terms: tuple[Expr, ...]
    is_clock: bool


@dataclass(frozen=True, slots=True)
class Based:
    """Digits with the base as subscript."""

    digits: str
    base: int


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix or vector in rows."""

    rows: tuple[tuple[Answer, ...], ...]


@dataclass(frozen=True, slots=True)
class Opaque:
    """What the rules do not understand: words, conditions, ellipses, set builders."""

    text: str


Answer = Scalar | Sequence | RealSet | Equation | Inequality | Ratio | Based | Matrix | Opaque
