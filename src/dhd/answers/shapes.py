"""Comparison of mathematical answers shape by shape.

Every function returns True, False, or None where the rules cannot tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Final

from dhd.answers.equations import same_equation, same_inequality
from dhd.answers.evaluate import equal
from dhd.answers.expression import Expr, number, rename
from dhd.answers.quantity import real_value
from dhd.answers.structure import (
    Answer, Based, Equation, Inequality, Interval, Matrix, Opaque, Ratio, RealSet, Scalar, Sequence,
)  # fmt: skip
from dhd.answers.units import parse_unit

Verdict = bool | None

_DEGREE: Final = Expr("div", (Expr("const", name="pi"), number(180)))
_MAX_ITEMS: Final = 40
_MIN_DECIMALS: Final = 1


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Return False if any is False, else None if any is None, else True."""
    found = list(verdicts)
    if False in found:
        return False
    return None if None in found else True


def compare_readings(gold: tuple[Answer, ...], submitted: tuple[Answer, ...]) -> Verdict:
    """Compare all readings: True if any pair agrees, False if every pair differs."""
    verdicts = [compare_shapes(one, other) for one in gold for other in submitted]
    if True in verdicts:
        return True
    return None if None in verdicts else False


def compare_shapes(gold: Answer, submitted: Answer) -> Verdict:
    """Compare two answers of any shape."""
    if isinstance(gold, Opaque) or isinstance(submitted, Opaque):
        return None
    if isinstance(gold, Equation) or isinstance(submitted, Equation):
        return _equations(gold, submitted)
    for shape, rule in _RULES:
        if isinstance(gold, shape) or isinstance(submitted, shape):
            return rule(gold, submitted)
    return None


def _equations(gold: Answer, submitted: Answer) -> Verdict:
    if isinstance(gold, Equation) and isinstance(submitted, Equation):
        return _two_equations(gold, submitted)
    equation, other = (gold, submitted) if isinstance(gold, Equation) else (submitted, gold)
    if not isinstance(equation, Equation) or isinstance(other, Inequality):
        return None
    if equation.name:
        verdict = compare_shapes(equation.right, other)
        # A function's rule may be written in another variable on its own.
        return None if equation.argument and verdict is not True else verdict
    if equation.left is not None and isinstance(equation.right, Scalar):
        value = real_value(equation.left)
        if value is not None and value == real_value(equation.right.tree):
            return compare_shapes(equation.right, other)
    return None


def _two_equations(gold: Equation, submitted: Equation) -> Verdict:
    if gold.argument and submitted.argument:
        return _functions(gold, submitted)
    if gold.name and gold.name == submitted.name:
        verdict = compare_shapes(gold.right, submitted.right)
        if verdict is not None or not isinstance(gold.right, Scalar):
            return verdict
    elif gold.name and submitted.name and not _has_symbols(gold.right, submitted.right):
        return False if compare_shapes(gold.right, submitted.right) is False else None
    if not (isinstance(gold.right, Scalar) and isinstance(submitted.right, Scalar)):
        return None
    if gold.left is None or submitted.left is None or gold.right.mark or submitted.right.mark:
        return None
    return same_equation((gold.left, gold.right.tree), (submitted.left, submitted.right.tree))


def _has_symbols(*answers: Answer) -> bool:
    return any(not isinstance(one, Scalar) or real_value(one.tree) is None for one in answers)


def _functions(gold: Equation, submitted: Equation) -> Verdict:
    """Compare ``f(n) = …`` with ``f(x) = …``: the bound variable's name does not matter."""
    if not (isinstance(gold.right, Scalar) and isinstance(submitted.right, Scalar)):
        return None
    theirs = rename(gold.right.tree, {gold.argument: "bound variable"})
    ours = rename(submitted.right.tree, {submitted.argument: "bound variable"})
    verdict = equal(theirs, ours)
    return verdict if gold.name == submitted.name else None


def _scalars(gold: Answer, submitted: Answer) -> Verdict:
    if not (isinstance(gold, Scalar) and isinstance(submitted, Scalar)):
        return False if isinstance(gold, Sequence) or isinstance(submitted, Sequence) else None
    if gold.mark == submitted.mark:
        return _values(gold, submitted)
    marks = {gold.mark, submitted.mark}
    if "%" in marks:
        return _percents(gold, submitted)
    if marks <= {"deg", "rad", ""}:
        return _angles(gold, submitted)
    return _units(gold, submitted)


def _values(gold: Scalar, submitted: Scalar) -> Verdict:
    verdict = equal(gold.tree, submitted.tree)
    if verdict is False and _may_be_rounded(gold, submitted):
        return None
    return verdict


def _may_be_rounded(gold: Scalar, submitted: Scalar) -> bool:
    """Whether one is a decimal that the other rounds (or truncates) to."""
    for exact, rounded in ((gold, submitted), (submitted, gold)):
        digits = rounded.decimals
        if digits is None or digits < _MIN_DECIMALS:
            continue
        if exact.decimals is not None and exact.decimals <= digits:
            continue
        value, shown = real_value(exact.tree), real_value(rounded.tree)
        if value is not None and shown is not None:
            if _is_short(value) and exact.decimals is None:
                continue
            return _rounds_to(value, shown, Fraction(1, 10**digits))
    return False


def _rounds_to(value: Fraction, shown: Fraction, last_place: Fraction) -> bool:
    """Whether a decimal is a value rounded, or cut off, at its last place."""
    if abs(value - shown) * 2 <= last_place:
        return True
    return value * shown > 0 and 0 <= abs(value) - abs(shown) < last_place


def _is_short(value: Fraction) -> bool:
    """Whether a value is an integer, which nobody rounds to decimals."""
    return value.denominator == 1


def _percents(gold: Scalar, submitted: Scalar) -> Verdict:
    percent, plain = (gold, submitted) if gold.mark == "%" else (submitted, gold)
    if plain.mark:
        return None
    fraction = Expr("div", (percent.tree, number(100)))
    if equal(fraction, plain.tree) is True:
        return True
    if equal(percent.tree, plain.tree) is not True:
        return _values(Scalar(fraction), plain)
    value = real_value(plain.tree)
    # 46 for 46 % leaves the sign out; 0.5 for 0.5 % may as well mean 50 %.
    return True if gold is percent and value is not None and value > 1 else None


def _angles(gold: Scalar, submitted: Scalar) -> Verdict:
    marks = {gold.mark, submitted.mark}
    if marks == {"rad", ""}:
        plain = gold if not gold.mark else submitted
        value = real_value(plain.tree)
        same = equal(gold.tree, submitted.tree)
        # A whole number without a mark is as well a number of degrees.
        return None if value is not None and value.denominator == 1 and value else same
    degrees, other = (gold, submitted) if gold.mark == "deg" else (submitted, gold)
    as_radians = Expr("mul", (degrees.tree, _DEGREE))
    if equal(as_radians, other.tree) is True:
        return True
    if other.mark == "rad":
        return _values(Scalar(as_radians), other)
    if equal(degrees.tree, other.tree) is True:
        return True
    value = real_value(other.tree)
    return False if value is not None and _values(Scalar(as_radians), other) is False else None


def _units(gold: Scalar, submitted: Scalar) -> Verdict:
    same = equal(gold.tree, submitted.tree)
    if gold.mark and submitted.mark:
        theirs, ours = parse_unit(gold.mark), parse_unit(submitted.mark)
        if theirs is None or ours is None or theirs.dimensions != ours.dimensions:
            return None
        scaled = Expr("mul", (submitted.tree, number(ours.factor / theirs.factor)))
        return equal(gold.tree, scaled)
    if same is True and gold.mark and len(gold.mark) == 1:
        return None  # one letter may be a symbol that the submission lacks
    return same


def _sequences(gold: Answer, submitted: Answer) -> Verdict:
    if isinstance(gold, RealSet) or isinstance(submitted, RealSet):
        return _real_sets(gold, submitted)
    one, other = _as_sequence(gold), _as_sequence(submitted)
    if one is None or other is None:
        return None
    kinds = {one.kind, other.kind}
    if kinds == {"tuple", "bracket"} or kinds == {"set", "tuple"} or kinds == {"set", "bracket"}:
        return _mixed_brackets(one, other)
    if len(one.items) > _MAX_ITEMS or len(other.items) > _MAX_ITEMS:
        return None
    if kinds <= {"tuple", "bracket"}:
        return _in_order(one, other)
    if kinds & {"tuple", "bracket"}:
        return _list_and_tuple(one, other)
    if (verdicts := _by_name(one, other)) is not None:
        return all_of(verdicts)
    if kinds == {"list"} and len(one.items) != len(other.items):
        return False if all_known(one) and all_known(other) else None
    return _as_sets(one, other)


def _by_name(one: Sequence, other: Sequence) -> list[Verdict] | None:
    """Compare ``x=1, y=2`` with ``y=2, x=1`` name by name; None if they are no such lists."""
    tables = []
    for sequence in (one, other):
        named = {item.name: item for item in sequence.items if isinstance(item, Equation)}
        if "" in named or len(named) != len(sequence.items):
            return None
        tables.append(named)
    if len(tables[0]) < 2 or set(tables[0]) != set(tables[1]):
        return None
    return [compare_shapes(item, tables[1][name]) for name, item in tables[0].items()]


def _as_sequence(answer: Answer) -> Sequence | None:
    if isinstance(answer, Sequence):
        return answer
    return Sequence("list", (answer,))


def all_known(sequence: Sequence) -> bool:
    """Whether no item of a sequence is opaque."""
    return not any(isinstance(item, Opaque) for item in sequence.items)


def _mixed_brackets(one: Sequence, other: Sequence) -> Verdict:
    """Compare sequences in unlike brackets: ``[0, 1]`` is not ``(0, 1)``; a set has no order."""
    if "set" not in (one.kind, other.kind):
        return False if len(one.items) == 2 or _in_order(one, other) is False else None
    return False if _as_sets(one, other) is False else None


def _in_order(one: Sequence, other: Sequence) -> Verdict:
    if len(one.items) != len(other.items):
        return False if all_known(one) and all_known(other) else None
    return all_of(map(compare_shapes, one.items, other.items))


def _list_and_tuple(one: Sequence, other: Sequence) -> Verdict:
    """Compare ``0, 2`` with ``(0, 2)``: brackets left out, or one point among several."""
    plain, tuple_ = (one, other) if one.kind in ("list", "set") else (other, one)
    if any(isinstance(item, Sequence) for item in plain.items):
        return False if len(plain.items) > 1 else _in_order(plain, Sequence("list", (tuple_,)))
    return _in_order(plain, tuple_)


def _as_sets(one: Sequence, other: Sequence) -> Verdict:
    table = [[compare_shapes(left, right) for right in other.items] for left in one.items]
    rows = all_of(_any_of(row) for row in table)
    columns = all_of(_any_of([row[index] for row in table]) for index in range(len(other.items)))
    verdict = all_of((rows, columns))
    if (
        verdict is True
        and len(one.items) != len(other.items)
        and "set" not in (one.kind, other.kind)
    ):
        return None
    return verdict


def _any_of(verdicts: list[Verdict]) -> Verdict:
    if True in verdicts:
        return True
    return None if None in verdicts else False


def _real_sets(gold: Answer, submitted: Answer) -> Verdict:
    one, other = _as_real_set(gold), _as_real_set(submitted)
    if one is None or other is None:
        return None
    left, right = one.intervals, other.intervals
    if len(left) > 8 or len(right) > 8:
        return None
    if len(left) != len(right):
        return None
    table = [[_intervals(a, b) for b in right] for a in left]
    rows = all_of(_any_of(row) for row in table)
    columns = all_of(_any_of([row[index] for row in table]) for index in range(len(right)))
    verdict = all_of((rows, columns))
    if verdict is True and one.variable and other.variable and one.variable != other.variable:
        return None
    return verdict


def _as_real_set(answer: Answer) -> RealSet | None:
    if isinstance(answer, RealSet):
        return answer
    if (
        not isinstance(answer, Sequence)
        or answer.kind not in ("tuple", "bracket")
        or len(answer.items) != 2
    ):
        return None
    low, high = answer.items
    if not (isinstance(low, Scalar) and isinstance(high, Scalar)) or low.mark or high.mark:
        return None
    closed = answer.kind == "bracket"
    return RealSet((Interval(low.tree, high.tree, closed, closed),))


def _intervals(one: Interval, other: Interval) -> Verdict:
    if (one.low_closed, one.high_closed) != (other.low_closed, other.high_closed):
        return False
    return all_of((_ends(one.low, other.low), _ends(one.high, other.high)))


def _ends(one: Expr | None, other: Expr | None) -> Verdict:
    if one is None or other is None:
        return one is other
    return equal(one, other)


def _ratios(gold: Answer, submitted: Answer) -> Verdict:
    if isinstance(gold, Ratio) and isinstance(submitted, Ratio):
        if len(gold.terms) != len(submitted.terms):
            return False
        same = all_of(map(equal, gold.terms, submitted.terms))
        if same is not False:
            return same
        first = Expr("div", (submitted.terms[0], gold.terms[0]))
        scaled = [Expr("mul", (term, first)) for term in gold.terms]
        proportional = all_of(map(equal, scaled, submitted.terms))
        clock = gold.is_clock or submitted.is_clock
        return None if clock and proportional is True else proportional
    ratio, other = (gold, submitted) if isinstance(gold, Ratio) else (submitted, gold)
    if (
        not isinstance(ratio, Ratio)
        or not isinstance(other, Scalar)
        or other.mark
        or ratio.is_clock
    ):
        return None
    if len(ratio.terms) != 2:
        return None
    return True if equal(Expr("div", ratio.terms), other.tree) is True else None


def _based(gold: Answer, submitted: Answer) -> Verdict:
    if isinstance(gold, Based) and isinstance(submitted, Based):
        if gold.base == submitted.base:
            return gold.digits.lstrip("0") == submitted.digits.lstrip("0")
        values = _based_value(gold), _based_value(submitted)
        return None if None in values or values[0] == values[1] else False
    based, other = (gold, submitted) if isinstance(gold, Based) else (submitted, gold)
    if not isinstance(based, Based) or not isinstance(other, Scalar) or other.mark:
        return None
    value = real_value(other.tree)
    if value is None or value.denominator != 1:
        return None
    if str(int(value)) == based.digits:
        # The base is in the question: leaving its subscript out is right. A base that the
        # question does not ask for is not.
        return True if based is gold else None
    return None if _based_value(based) == value else False


def _based_value(based: Based) -> int | None:
    try:
        return int(based.digits, based.base) if 2 <= based.base <= 36 else None
    except ValueError:
        return None


def _matrices(gold: Answer, submitted: Answer) -> Verdict:
    one, other = _rows(gold), _rows(submitted)
    if one is None or other is None:
        return None
    if [len(row) for row in one] != [len(row) for row in other]:
        flat = [item for row in one for item in row], [item for row in other for item in row]
        return None if len(flat[0]) == len(flat[1]) else False
    return all_of(
        compare_shapes(a, b)
        for x, y in zip(one, other, strict=True)
        for a, b in zip(x, y, strict=True)
    )


def _rows(answer: Answer) -> tuple[tuple[Answer, ...], ...] | None:
    if isinstance(answer, Matrix):
        return answer.rows
    if isinstance(answer, Sequence) and answer.kind in ("tuple", "bracket"):
        return tuple((item,) for item in answer.items)
    return None


def _inequalities(gold: Answer, submitted: Answer) -> Verdict:
    one, other = _as_inequality(gold), _as_inequality(submitted)
    if one is None or other is None:
        return None
    return same_inequality(
        (one.left, one.right, one.strict), (other.left, other.right, other.strict)
    )


def _as_inequality(answer: Answer) -> Inequality | None:
    """Return an inequality, written out again where it was read as a set of reals."""
    if isinstance(answer, Inequality):
        return answer
    if not isinstance(answer, RealSet) or len(answer.intervals) != 1 or not answer.variable:
        return None
    interval = answer.intervals[0]
    variable = Expr("sym", name=answer.variable)
    if interval.low is None and interval.high is not None:
        return Inequality(variable, interval.high, not interval.high_closed)
    if interval.high is None and interval.low is not None:
        return Inequality(interval.low, variable, not interval.low_closed)
    return None


_RULES: Final[tuple[tuple[type, Callable[[Answer, Answer], Verdict]], ...]] = (
    (Matrix, _matrices),
    (Inequality, _inequalities),
    (Ratio, _ratios),
    (Based, _based),
    (RealSet, _real_sets),
    (Sequence, _sequences),
    (Scalar, _scalars),
)
