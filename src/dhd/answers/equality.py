"""Equality of expressions.

Rational expressions are compared exactly, others numerically with 60 digits and, where those
agree or cancel, with 500. Expressions with symbols are compared at fixed sample points: that
decides identity of analytic expressions with overwhelming probability and needs no
simplification, which has no bound on its time.
"""

from __future__ import annotations

import hashlib
import itertools
from fractions import Fraction
from typing import Final

from dhd.answers.evaluate import DIGITS, Point, mpmath, numeric_value
from dhd.answers.exact import EvaluationError, exact_value
from dhd.answers.tree import Expr, symbols

CANCELLED_DIGITS: Final = 500


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
    mp = mpmath()
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
    mp = mpmath()
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
