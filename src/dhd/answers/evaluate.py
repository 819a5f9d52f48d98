"""Bounded numeric evaluation of expression trees at a point."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any, Final

from dhd.answers.exact import MAX_FACTORIAL, EvaluationError
from dhd.answers.tree import Expr

MAX_LOG2: Final = 1_000_000
"""Binary logarithm of the largest power."""
DIGITS: Final = 60

Number = Any  # mpmath has no types
Point = Mapping[str, Fraction]


@cache
def mpmath() -> Any:
    """Return the arithmetic library, imported when it is first needed."""
    return importlib.import_module("mpmath")


@cache
def _plain_functions() -> dict[str, Callable[..., Number]]:
    mp = mpmath()
    names = ["sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh"]
    table = {name: getattr(mp, name) for name in names}
    table |= {"arcsin": mp.asin, "arccos": mp.acos, "arctan": mp.atan, "ln": mp.log}
    table |= {"sqrt": mp.sqrt, "abs": mp.fabs, "floor": mp.floor, "ceil": mp.ceil}
    return table


def numeric_value(tree: Expr, point: Point, digits: int = DIGITS) -> Number:
    """Return the value of a tree at a point as an mpmath number of ``digits`` digits."""
    mp = mpmath()
    with mp.workdps(digits):
        try:
            value = _numeric(tree, point)
        except (ZeroDivisionError, ValueError, OverflowError) as error:
            raise EvaluationError(str(error)) from error
        if mp.isnan(value):
            raise EvaluationError("not a number")
        return value


def _numeric(tree: Expr, point: Point) -> Number:
    mp = mpmath()
    match tree.op:
        case "num":
            return mp.mpf(tree.value.numerator) / tree.value.denominator
        case "sym":
            value = point[tree.name]
            return mp.mpf(value.numerator) / value.denominator
        case "const":
            return {"pi": mp.pi, "e": mp.e, "i": mp.mpc(0, 1), "inf": mp.inf}[tree.name] * 1
    values = [_numeric(arg, point) for arg in tree.args]
    match tree.op:
        case "add":
            return sum(values[1:], values[0])
        case "mul":
            return values[0] * values[1]
        case "neg":
            return -values[0]
        case "div":
            return values[0] / values[1]
        case "pow":
            return _numeric_power(*values)
        case "fact":
            return _gamma(values[0] + 1)
        case _:
            return _numeric_function(tree.name, values, point)


def _log2(value: Number) -> float:
    mp = mpmath()
    return float(mp.log(mp.fabs(value), 2)) if value and mp.isfinite(value) else 0.0


def _numeric_power(base: Number, exponent: Number) -> Number:
    mp = mpmath()
    if not base and not mp.re(exponent) > 0:
        raise EvaluationError("zero to a power that is not positive")
    if _log2(exponent) > 40 or abs(_log2(base)) * abs(float(mp.fabs(exponent))) > MAX_LOG2:
        raise EvaluationError("power too large")
    return mp.power(base, exponent)


def _gamma(value: Number) -> Number:
    mp = mpmath()
    if mp.fabs(value) > MAX_FACTORIAL:
        raise EvaluationError("factorial too large")
    return mp.gamma(value)


def _numeric_function(name: str, values: list[Number], point: Point) -> Number:
    mp = mpmath()
    if any(_log2(value) > 5_000 for value in values):
        raise EvaluationError("argument too large")
    if name.startswith("opaque "):
        return mp.cos(values[0] * mp.mpf(7) / 5 + ord(name[-1])) + 2
    match name:
        case "exp":
            if mp.fabs(values[0]) > MAX_LOG2:
                raise EvaluationError("power too large")
            return mp.exp(values[0])
        case "log":
            # The base of a bare log is the author's: natural or ten. It stays a symbol.
            return mp.log(values[0]) * _numeric(Expr("sym", name="log"), point)
        case "root":
            return mp.power(values[0], 1 / values[1]) if values[0] != 0 else values[0]
        case "binom":
            if any(mp.fabs(value) > MAX_FACTORIAL for value in values):
                raise EvaluationError("binomial too large")
            return mp.binomial(*values)
        case _:
            return _plain_functions()[name](values[0])
