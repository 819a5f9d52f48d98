"""Comparison of integers and numeric answers under each benchmark's tolerance."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dhd.answers.quantity import Quantity, parse_quantity
from dhd.answers.ranges import Target, is_void, parse_targets
from dhd.answers.result import Comparison, decided, deferred
from dhd.answers.text import clean, compact, normalise_answer
from dhd.answers.units import Unit, parse_unit, split_factor

SCIBENCH_RELATIVE: Final = Fraction(5, 100)
"""SciBench's scorer uses ``math.isclose(rel_tol=0.05)``: relative to the larger of the two."""
JEEBENCH_ABSOLUTE: Final = Fraction(1, 100)
"""JEEBench's scorer accepts an absolute difference of 0.01 (closed)."""
UNSTATED_RELATIVE: Final = Fraction(5, 100)
"""Where no tolerance is stated, a value this near but not equal is deferred."""
_PERCENT: Final = Fraction(1, 100)
_DEGREES_IN_RADIAN: Final = Fraction(57_295_779_513, 10**9)
_PREFIX_POWERS: Final = range(-24, 25)


def compare_integer(reference: str, submitted: str) -> Comparison:
    """Compare with an integer reference: the submission's value must equal it exactly."""
    targets = parse_targets(reference)
    if len(targets) != 1 or targets[0].is_range or targets[0].low.denominator != 1:
        return deferred("reference_not_understood")
    quantity = parse_quantity(clean(submitted))
    if quantity is None:
        return deferred("not_one_number")
    unit = parse_unit(quantity.unit) if quantity.unit else None
    if quantity.unit and (unit is None or unit.is_percent):
        return deferred("unknown_unit")
    if quantity.value == targets[0].low:
        return Comparison(True, "integer")
    # 1 km may be the 1000 of a question that asks for metres.
    converts = unit is not None and _may_convert(quantity.value, targets[0].low, unit)
    return decided(None if converts else False, "integer")


def compare_numeric(
    reference: str, submitted: str, *, benchmark: str, unit: str | None, prompt_shows_factor: bool
) -> Comparison:
    """Compare with a numeric reference.

    Parameters
    ----------
    reference
        A value, a range, or alternatives of them; see ``parse_targets``.
    submitted
        The normalised submission.
    benchmark
        Selects the tolerance.
    unit
        Unit of the reference, which may begin with a power of ten that multiplies it.
    prompt_shows_factor
        Whether the solver was shown that power of ten, so that the bare reference is right too.
    """
    if is_void(reference):
        return deferred("void_item")
    targets = parse_targets(reference)
    if not targets:
        return deferred("reference_not_understood")
    factor, unit_text = split_factor(clean(normalise_answer(unit or "")))
    quantity = _in_unit(clean(submitted), unit_text) or parse_quantity(clean(submitted))
    if quantity is None:
        return deferred("not_one_number")
    judge = _Judge(quantity, benchmark, factor, unit_text, prompt_shows_factor)
    outcomes = [judge.outcome(target) for target in targets]
    if True in outcomes:
        return Comparison(True, "numeric")
    return decided(None if None in outcomes else False, "numeric")


def _in_unit(text: str, unit: str) -> Quantity | None:
    """Read a number followed by exactly the reference's unit, whatever that means."""
    body = text.removesuffix(unit)
    if not unit or body == text or body[-1:].isalpha() or body[-1:] == "\\":
        return None
    quantity = parse_quantity(body.strip())
    return None if quantity is None or quantity.unit else Quantity(quantity.value, unit)


class _Judge:
    """One submission under one benchmark's rule, to be held against each target."""

    def __init__(
        self, quantity: Quantity, benchmark: str, factor: Fraction, unit: str, shows_factor: bool
    ) -> None:
        self.quantity = quantity
        self.benchmark = benchmark
        self.factor = factor
        self.unit = unit
        self.shows_factor = shows_factor

    def outcome(self, target: Target) -> bool | None:
        """Return whether the submission meets the target."""
        unit = self.unit or target.unit
        if self.quantity.unit and unit:
            return self._with_units(target, unit)
        if self.quantity.unit:
            return self._unit_unasked(target)
        return self._bare(target, unit)

    def _matches(
        self, value: Fraction, target: Target, scale: Fraction = Fraction(1)
    ) -> bool | None:
        low, high = target.low * scale, target.high * scale
        if target.is_range:
            return low <= value <= high
        gap = abs(value - low)
        if self.benchmark == "scibench":
            return gap <= SCIBENCH_RELATIVE * max(abs(value), abs(low))
        if self.benchmark == "jeebench":
            return gap <= JEEBENCH_ABSOLUTE * scale
        if gap == 0:
            return True
        return None if gap <= UNSTATED_RELATIVE * abs(low) else False

    def _bare(self, target: Target, unit: str) -> bool | None:
        value = self.quantity.value
        outcomes = [self._matches(value, target, self.factor)]
        if self.shows_factor or self.factor == 1:
            outcomes.append(self._matches(value, target))
        if _is_percent(unit):
            # 0.32 for 32 %: right as a fraction, wrong as a percentage.
            scales = (self.factor, Fraction(1))
            if any(self._matches(value * 100, target, scale) for scale in scales):
                outcomes.append(None)
        if _is_degree(unit) and self._matches(value * _DEGREES_IN_RADIAN, target):
            outcomes.append(None)
        return _best(outcomes)

    def _with_units(self, target: Target, unit: str) -> bool | None:
        value = self.quantity.value
        ours, theirs = parse_unit(self.quantity.unit), parse_unit(unit)
        same_text = compact(self.quantity.unit) == compact(unit)
        if not same_text and (
            ours is None or theirs is None or ours.dimensions != theirs.dimensions
        ):
            return None
        scale = (
            Fraction(1)
            if same_text or ours is None or theirs is None
            else ours.factor / theirs.factor
        )
        outcomes = [self._matches(value * scale, target, self.factor)]
        if self.factor != 1 and self.shows_factor and self._matches(value * scale, target):
            outcomes.append(None)  # the factor may have been left out on purpose
        return _best(outcomes)

    def _unit_unasked(self, target: Target) -> bool | None:
        """Judge a submission with a unit where the reference's unit is only in the question."""
        value, unit = self.quantity.value, parse_unit(self.quantity.unit)
        if unit is None:
            return None
        outcomes = [self._matches(value, target, scale) for scale in self._scales()]
        if unit.is_percent:
            outcomes += [self._matches(value * _PERCENT, target, scale) for scale in self._scales()]
        elif _has_odd_relatives(unit) or any(
            self._matches(value * Fraction(10) ** power, target) for power in _PREFIX_POWERS
        ):
            outcomes.append(None)  # perhaps the same amount in another unit
        return _best(outcomes)

    def _scales(self) -> tuple[Fraction, ...]:
        if self.factor == 1:
            return (self.factor,)
        return (self.factor, Fraction(1)) if self.shows_factor else (self.factor,)


def _best(outcomes: list[bool | None]) -> bool | None:
    if True in outcomes:
        return True
    return None if None in outcomes else False


def _is_percent(text: str) -> bool:
    unit = parse_unit(text) if text else None
    return unit is not None and unit.is_percent


def _is_degree(text: str) -> bool:
    unit = parse_unit(text) if text else None
    return unit is not None and unit == parse_unit("deg")


def _may_convert(value: Fraction, reference: Fraction, unit: Unit) -> bool:
    """Whether a number in a unit may be the reference in another unit of its kind."""
    if _has_odd_relatives(unit):
        return True
    return any(value * Fraction(10) ** power == reference for power in _PREFIX_POWERS)


def _has_odd_relatives(unit: Unit) -> bool:
    """Whether the unit has relatives that no power of ten leads to (hours, feet, °C, …)."""
    if any(name in ("celsius", "fahrenheit", "K") for name, _ in unit.dimensions):
        return True
    size = unit.factor
    while size.denominator % 10 == 0 or (
        size.denominator > 1 and (size * 10).denominator < size.denominator
    ):
        size *= 10
    while size.numerator % 10 == 0 and size.numerator:
        size /= 10
    return size != 1
