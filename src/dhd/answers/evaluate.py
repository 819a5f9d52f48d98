"""Bounded evaluation of expression trees, and their equality.

Rational trees are evaluated exactly. Others are evaluated to 60 digits (more where digits
cancel); expressions with symbols are compared at fixed sample points. That decides identity of
analytic expressions with overwhelming probability and needs no simplification, which has no
bound on its time.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any, Final

from dhd.answers.expression import Expr, symbols

MAX_BITS: Final = 100_000
MAX_LOG2: Final = 1_000_000
MAX_FACTORIAL: Final = 2_000
DIGITS: Final = 60
CANCELLED_DIGITS: Final = 500


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


Number = Any  # mpmath has no types
Point = Mapping[str, Fraction]


@cache
def _mpmath() -> Any:
    import mpmath

    return mpmath


@cache
def _plain_functions() -> dict[str, Callable[..., Number]]:
    mp = _mpmath()
    names = "sin cos tan cot sec csc sinh cosh tanh".split()
    table = {name: getattr(mp, name) for name in names}
    table |= {"arcsin": mp.asin, "arccos": mp.acos, "arctan": mp.atan, "ln": mp.log}
    table |= {"sqrt": mp.sqrt, "abs": mp.fabs, "floor": mp.floor, "ceil": mp.ceil}
    return table


def numeric_value(tree: Expr, point: Point, digits: int = DIGITS) -> Number:
    """Return the value of a tree at a point as an mpmath number of ``digits`` digits."""
    mp = _mpmath()
    with mp.workdps(digits):
        try:
            value = _numeric(tree, point)
        except (ZeroDivisionError, ValueError, OverflowError) as error:
            raise EvaluationError(str(error)) from error
        if mp.isnan(value):
            raise EvaluationError("not a number")
        return value


def _numeric(tree: Expr, point: Point) -> Number:
    mp = _mpmath()
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
    mp = _mpmath()
    return float(mp.log(mp.fabs(value), 2)) if value and mp.isfinite(value) else 0.0


def _numeric_power(base: Number, exponent: Number) -> Number:
    mp = _mpmath()
    if not base and not mp.re(exponent) > 0:
        raise EvaluationError("zero to a power that is not positive")
    if _log2(exponent) > 40 or abs(_log2(base)) * abs(float(mp.fabs(exponent))) > MAX_LOG2:
        raise EvaluationError("power too large")
    return mp.power(base, exponent)


def _gamma(value: Number) -> Number:
    mp = _mpmath()
    if mp.fabs(value) > MAX_FACTORIAL:
        raise EvaluationError("factorial too large")
    return mp.gamma(value)


def _numeric_function(name: str, values: list[Number], point: Point) -> Number:
    mp = _mpmath()
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


def equal(left: Expr, right: Expr) -> bool | None:
    """Return whether two expressions are equal; None where the rules cannot tell.

    Symbols stand for themselves. They are sampled at positive reals, then at reals of both
    signs (where a point at which either value is not real says nothing), and, where the
    positive samples differ, at integers: ``(-1)^n`` equals ``cos(pi n)`` only there.
    """
    names = symbols(left) | symbols(right)
    try:
        if not names:
            return _equal_constants(left, right)
        return _equal_with_symbols(left, right, names)
    except EvaluationError:
        return None


def _equal_constants(left: Expr, right: Expr) -> bool | None:
    a, b = exact_value(left), exact_value(right)
    if a is not None and b is not None:
        return a == b
    return same_number(left, right, {})


def same_number(left: Expr, right: Expr, point: Point) -> bool | None:
    """Compare two trees numerically at one point; None where digits run out."""
    mp = _mpmath()
    first_size = None
    for digits in (DIGITS, CANCELLED_DIGITS):
        with mp.workdps(digits):
            a, b = numeric_value(left, point, digits), numeric_value(right, point, digits)
            if mp.isinf(a) or mp.isinf(b):
                return bool(a == b)
            size, gap = max(mp.fabs(a), mp.fabs(b)), mp.fabs(a - b)
            if gap <= size * mp.mpf(10) ** (10 - digits):
                if digits == CANCELLED_DIGITS:
                    return True
                continue  # to tell a tiny term from none
            if first_size is not None and size < first_size * mp.mpf(10) ** -200:
                return True  # both are zero: what is left shrinks with the working precision
            if first_size is not None or size > mp.mpf(10) ** (20 - digits):
                return False if gap > size * mp.mpf(10) ** (-digits // 2) else None
            first_size = size
    return None


def sample(name: str, index: int) -> Fraction:
    """Return a fixed positive rational in (0.2, 2.7) for a symbol; index selects the point."""
    digest = hashlib.sha256(f"{name}/{index}".encode()).digest()
    return Fraction(1, 5) + Fraction(int.from_bytes(digest[:4], "big"), 2**32) * Fraction(5, 2)


def _equal_with_symbols(left: Expr, right: Expr, names: frozenset[str]) -> bool | None:
    positive = [{name: sample(name, index) for name in names} for index in range(3)]
    if all(same_number(left, right, point) for point in positive):
        return _agree_on_both_signs(left, right, names)
    if symbols(left) != symbols(right):
        return None
    integers = [
        {name: Fraction(5 + 3 * index + int(sample(name, index) * 2)) for name in names}
        for index in range(6)
    ]
    if all(same_number(left, right, point) is not False for point in integers):
        return None
    return False


def _agree_on_both_signs(left: Expr, right: Expr, names: frozenset[str]) -> bool | None:
    mp = _mpmath()
    ordered = sorted(names - {"log"})
    for index, signs in enumerate(
        itertools.islice(itertools.product((-1, 1), repeat=len(ordered)), 4)
    ):
        point = {
            name: sample(name, index + 9) * sign for name, sign in zip(ordered, signs, strict=True)
        }
        point["log"] = sample("log", index)
        try:
            values = numeric_value(left, point), numeric_value(right, point)
            if all(mp.im(value) == 0 for value in values) and not same_number(left, right, point):
                return None
            if (mp.im(values[0]) == 0) != (mp.im(values[1]) == 0):
                return None
        except EvaluationError:
            continue
    return True
