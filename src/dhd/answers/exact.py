"""Exact evaluation of rational expression trees, bounded in size."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from dhd.answers.tree import Expr

MAX_BITS: Final = 100_000
"""Bits of numerator and denominator together."""
MAX_FACTORIAL: Final = 2_000


class EvaluationError(ArithmeticError):
    """The value is undefined, or too large to be computed within the bounds."""


def exact_value(tree: Expr) -> Fraction | None:
    """Return the rational value of a tree, or None if it is not made of rationals.

    Raises
    ------
    EvaluationError
        If the value is undefined or its size exceeds the bounds.
    """
    if tree.op == "num":
        return tree.value
    if tree.op in ("sym", "const"):
        return None
    values = [exact_value(arg) for arg in tree.args]
    if any(value is None for value in values):
        return None
    known = [value for value in values if value is not None]
    result = _exact_operation(tree, known)
    if result is not None and _bits(result) > MAX_BITS:
        raise EvaluationError("number too large")
    return result


def _bits(value: Fraction) -> int:
    return value.numerator.bit_length() + value.denominator.bit_length()


def _exact_operation(tree: Expr, values: list[Fraction]) -> Fraction | None:
    match tree.op:
        case "add":
            return _exact_sum(values)
        case "mul":
            return values[0] * values[1]
        case "neg":
            return -values[0]
        case "div":
            if values[1] == 0:
                raise EvaluationError("division by zero")
            return values[0] / values[1]
        case "pow":
            return _exact_power(*values)
        case "fact":
            return _factorial(values[0])
        case _:
            return _exact_function(tree.name, values)


def _exact_sum(values: list[Fraction]) -> Fraction:
    total = Fraction(0)
    for value in values:
        total += value
        if _bits(total) > MAX_BITS:
            raise EvaluationError("number too large")
    return total


def _exact_power(base: Fraction, exponent: Fraction) -> Fraction | None:
    if exponent.denominator != 1:
        return None
    if base == 0 and exponent <= 0:
        raise EvaluationError("zero to a power that is not positive")
    if base in (0, 1) or exponent == 0:
        return Fraction(1) if exponent == 0 else base
    if abs(exponent) * _bits(base) > MAX_BITS:
        raise EvaluationError("power too large")
    return Fraction(base ** int(exponent))


def _factorial(value: Fraction) -> Fraction:
    if value.denominator != 1 or not 0 <= value <= MAX_FACTORIAL:
        raise EvaluationError("factorial of a large, negative or broken number")
    return Fraction(math.factorial(int(value)))


def _exact_function(name: str, values: list[Fraction]) -> Fraction | None:
    value = values[0]
    match name:
        case "abs":
            return abs(value)
        case "floor":
            return Fraction(math.floor(value))
        case "ceil":
            return Fraction(math.ceil(value))
        case "binom":
            top, bottom = values
            if any(v.denominator != 1 or not 0 <= v <= MAX_FACTORIAL for v in values):
                raise EvaluationError("binomial out of bounds")
            return Fraction(math.comb(int(top), int(bottom)))
        case "sqrt" if value >= 0:
            root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
            return root if root * root == value else None
        case _:
            return None
