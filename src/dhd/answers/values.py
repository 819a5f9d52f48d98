"""Comparison of single values: decimals, percentages, angles, units, ratios, bases."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dhd.answers.equality import equal
from dhd.answers.quantity import real_value
from dhd.answers.structure import Answer, Based, Ratio, Scalar, Sequence
from dhd.answers.tree import Expr, number
from dhd.answers.units import parse_unit
from dhd.answers.verdicts import Verdict, all_of

_DEGREE: Final = Expr("div", (Expr("const", name="pi"), number(180)))


def compare_scalars(gold: Answer, submitted: Answer) -> Verdict:
    """Compare two values with their marks; a value is no list."""
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
    """Whether one is a decimal that the other rounds (or is cut off) to."""
    for exact, rounded in ((gold, submitted), (submitted, gold)):
        place = rounded.last_place
        if place is None or (exact.last_place is not None and exact.last_place >= place):
            continue
        value, shown = real_value(exact.tree), real_value(rounded.tree)
        if value is None or shown is None:
            continue
        if value.denominator == 1 and exact.last_place is None and place < 1:
            continue  # nobody rounds an integer to decimals
        return _rounds_to(value, shown, place)
    return False


def _rounds_to(value: Fraction, shown: Fraction, last_place: Fraction) -> bool:
    """Whether a decimal is a value rounded, or cut off, at its last place."""
    if abs(value - shown) * 2 <= last_place:
        return True
    return value * shown > 0 and 0 <= abs(value) - abs(shown) < last_place


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
    if not gold.mark:
        return same
    if same is True:
        # One letter may be a symbol that the submission lacks.
        return None if len(gold.mark) == 1 else True
    return None if _is_power_of_ten(gold, submitted) else same


def _is_power_of_ten(gold: Scalar, submitted: Scalar) -> bool:
    """Whether a number without a unit may be the reference under another prefix of its unit."""
    theirs, ours = real_value(gold.tree), real_value(submitted.tree)
    if not theirs or not ours:
        return False
    ratio = ours / theirs
    return any(ratio == Fraction(10) ** power for power in range(-12, 13))


def compare_ratios(gold: Answer, submitted: Answer) -> Verdict:
    """Compare ratios up to a factor, clock times literally, a ratio with a fraction."""
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


def compare_based(gold: Answer, submitted: Answer) -> Verdict:
    """Compare numerals with bases; a base that the reference states may be left out."""
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
