"""Equivalence of equations and inequalities, without solving them symbolically."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from dhd.answers.equality import sample
from dhd.answers.evaluate import numeric_value
from dhd.answers.exact import EvaluationError
from dhd.answers.tree import Expr, symbols

Sides = tuple[Expr, Expr]

_TOLERANCE: Final = 1e-25
_POINTS: Final = 4


def same_equation(gold: Sides, submitted: Sides) -> bool | None:
    """Return whether two equations have the same solutions.

    True if the differences of their sides are proportional. False if some solution of one,
    found numerically, does not solve the other. Else None.
    """
    one, other = _difference(*gold), _difference(*submitted)
    names = sorted(symbols(one) | symbols(other))
    if not names or symbols(one) != symbols(other):
        return None
    try:
        if _constant_ratio(one, other, names) is not None:
            return True
    except (EvaluationError, ZeroDivisionError):
        return None
    if _solution_apart(one, other, names) or _solution_apart(other, one, names):
        return False
    return None


def same_inequality(
    gold: tuple[Expr, Expr, bool], submitted: tuple[Expr, Expr, bool]
) -> bool | None:
    """Return whether two inequalities ``left < right`` (strict or not) agree.

    True if one is a positive multiple of the other, False if a sampled point satisfies only one
    of them, else None.
    """
    one, other = _difference(*gold[:2]), _difference(*submitted[:2])
    names = sorted(symbols(one) | symbols(other))
    if not names or symbols(one) != symbols(other):
        return None
    try:
        ratio = _constant_ratio(one, other, names)
        if ratio is not None:
            return bool(ratio > 0) and gold[2] == submitted[2]
        for point in _signed_points(names):
            values = numeric_value(one, point), numeric_value(other, point)
            if all(value.imag == 0 for value in values) and (values[0].real < 0) != (
                values[1].real < 0
            ):
                return False
    except (EvaluationError, ZeroDivisionError):
        return None
    return None


def _difference(left: Expr, right: Expr) -> Expr:
    return Expr("add", (left, Expr("neg", (right,))))


def _signed_points(names: list[str]) -> list[dict[str, Fraction]]:
    """Return 24 points that run through the signs and three sizes of the coordinates."""

    def coordinate(name: str, place: int, index: int) -> Fraction:
        sign = -1 if (index >> place) & 1 else 1
        return sample(name, 20 + index) * sign * (1 + 3 * (index % 3))

    return [
        {name: coordinate(name, place, index) for place, name in enumerate(names)}
        for index in range(24)
    ]


def _constant_ratio(one: Expr, other: Expr, names: list[str]) -> Any:
    """Return the ratio of two expressions if it is one real constant at all points, else None."""
    first = None
    for index in range(_POINTS):
        point = {name: sample(name, index) for name in names}
        ratio = numeric_value(one, point) / numeric_value(other, point)
        if first is not None and abs(ratio - first) > _TOLERANCE * abs(first):
            return None
        first = ratio
    return first.real if first is not None and first.imag == 0 and first != 0 else None


def _solution_apart(one: Expr, other: Expr, names: list[str]) -> bool:
    """Whether Newton's method finds a real solution of one that is none of the other."""
    for index in range(6):
        point = {name: sample(name, 40 + index) * (-1 if index % 2 else 1) for name in names}
        name = names[index % len(names)]
        root = _real_root(one, point, name)
        if root is None:
            continue
        try:
            value = numeric_value(other, {**point, name: root}, 40)
        except EvaluationError:
            continue
        if abs(value) > 1e-8:
            return True
    return False


def _real_root(tree: Expr, point: dict[str, Fraction], name: str) -> Fraction | None:
    """Find a root in one variable by at most 60 steps of bounded secants; residual below 1e-20."""
    step = Fraction(1, 1000)
    x = point[name]
    try:
        for _ in range(60):
            value = numeric_value(tree, {**point, name: x}, 40)
            if value.imag != 0:
                return None
            if abs(value) < 1e-20:
                return x
            slope = (numeric_value(tree, {**point, name: x + step}, 40) - value) / float(step)
            if slope == 0 or slope.imag != 0:
                return None
            move = Fraction(str(float((value / slope).real)))
            x = (x - move).limit_denominator(10**24)
            step = max(min(abs(move), Fraction(1, 1000)), Fraction(1, 10**12))
            if abs(x) > 10**6:
                return None
    except (EvaluationError, ZeroDivisionError, OverflowError, ValueError):
        return None
    return None
