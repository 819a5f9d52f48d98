"""Quantities: one number with an optional unit, in the notations that models use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dhd.answers.evaluate import mpmath, numeric_value
from dhd.answers.exact import EvaluationError, exact_value
from dhd.answers.expression import parse_expression
from dhd.answers.tokens import ParseError, parse_number
from dhd.answers.tree import Expr, symbols
from dhd.answers.units import parse_unit


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit.

    Attributes
    ----------
    value
        The number, exact where it is rational, else correct to 60 digits.
    unit
        Cleaned text of the unit, empty when there is none.
    """

    value: Fraction
    unit: str = ""


_DECIMAL: Final = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+)"
_LITERAL: Final = re.compile(
    rf"^([-+]?)\s*({_DECIMAL})"
    r"(?:[eE]([-+]?\d+)|\s*(?:\\times|\\cdot|[xX*])\s*10\s*\^\s*(?:\{\s*([-+]?\s*\d+)\s*\}|\(\s*([-+]?\d+)\s*\)|([-+]?\d+)))?"
    r"(?![\d.])"
)
_LEAD: Final = re.compile(
    r"^(?:(?:thus|so|hence|therefore)[, ]+)?(?:the\s+)?(?:final\s+|correct\s+|numerical\s+)?"
    r"(?:answer|result|value)?\s*(?:is|equals|:)?\s*(?:equal to\s+)?"
    r"(?:approximately|approx\.?|about|around|roughly|nearly|ca\.|circa|\\approx|\\sim(?:eq)?|~|\u7ea6|=|:)?\s*",
    re.IGNORECASE,
)
_SIDES: Final = re.compile(r"(?<![<>!:])=(?!=)|\\approx|\\simeq|\\sim")
_NAME: Final = re.compile(r"^[A-Za-z\\][A-Za-z0-9\\_{}^,() *'/]{0,40}$")
_MULTIPLIERS: Final = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12, "万": 4, "亿": 8}
_MULTIPLIER: Final = re.compile(rf"^\s*({'|'.join(_MULTIPLIERS)})s?(?![a-z])", re.IGNORECASE)
_SEVERAL: Final = re.compile(
    r"\b(?:or|and|to|between|from|at least|at most|less|more|greater|under|over|above|below)\b"
    r"|\\pm|\\le|\\ge|[<>;]|\+/-|[或和至]",
    re.IGNORECASE,
)
_SPAN: Final = re.compile(rf"^\s*[-+]?{_DECIMAL}\s*%?\s*(?:-|\.\.|:)\s*[-+]?{_DECIMAL}\s*%?\s*$")
_UNCERTAIN: Final = re.compile(rf"^\s*[-+]?{_DECIMAL}\(\d+\)")
_MAX_VALUE_BITS: Final = 20_000


def parse_quantity(text: str) -> Quantity | None:
    """Return the quantity that a cleaned answer states, or None.

    None for anything but one number: an interval, alternatives, a bound, text, NaN, infinity,
    or a number too large to be worth its evaluation. A remainder is taken as a unit only when
    the unit is known, or when it repeats no digits and is one plain noun phrase (then it is
    returned as written, and the caller decides).
    """
    if _SEVERAL.search(text) or _SPAN.match(text) or _UNCERTAIN.match(text):
        return None
    body = _value_side(text)
    if body is None:
        return None
    body = _LEAD.sub("", body, count=1).strip()
    if (chinese := chinese_integer(body)) is not None:
        return Quantity(Fraction(chinese))
    return _literal(body) or _expression(body)


def _value_side(text: str) -> str | None:
    """Return the last side of ``x = … = value``; None if the first side is no name or number."""
    sides = _SIDES.split(text)
    if len(sides) == 1:
        return text
    first = sides[0].strip()
    if first and not _NAME.match(first) and _expression(first) is None:
        return None
    return sides[-1].strip()


def _literal(text: str) -> Quantity | None:
    match = _LITERAL.match(text)
    if match is None:
        return None
    exponent = "".join(
        (match.group(3) or match.group(4) or match.group(5) or match.group(6) or "0").split()
    )
    digits = match.group(2).replace(",", "")
    try:
        value = parse_number(f"{match.group(1)}{digits}e{exponent}")
    except ParseError:
        return None
    rest = text[match.end() :].strip()
    if (multiplier := _MULTIPLIER.match(rest)) is not None:
        value *= 10 ** _MULTIPLIERS[multiplier.group(1).lower()]
        rest = rest[multiplier.end() :].strip()
    if not rest:
        return Quantity(value)
    unit = rest.removeprefix("(").removesuffix(")").strip() if rest.startswith("(") else rest
    if parse_unit(unit) is not None and not _is_symbol_factor(text, rest):
        return Quantity(value, unit)
    if re.fullmatch(r"[A-Za-z\\][A-Za-z\\ ^{}/-]{2,30}", unit) and _expression(text) is None:
        return Quantity(value, unit)
    return None


def _is_symbol_factor(text: str, rest: str) -> bool:
    """Whether the remainder is a constant of mathematics written on to the number (``2e``)."""
    return rest in ("e", "i") and not text.removesuffix(rest).endswith(" ")


def _expression(text: str) -> Quantity | None:
    for cut in _cuts(text):
        body, unit = text[:cut].strip(), text[cut:].strip()
        if unit and parse_unit(unit) is None:
            continue
        try:
            tree = parse_expression(body)
        except ParseError:
            continue
        value = real_value(tree)
        if value is not None:
            return Quantity(value, unit)
    return None


def _cuts(text: str) -> list[int]:
    spaces = [match.start() for match in re.finditer(r"\s", text)]
    return [len(text), *spaces[-6:], *([len(text) - 1] if text.endswith(("%", "°")) else [])]


def real_value(tree: Expr) -> Fraction | None:
    """Return the real value of a constant expression (60 digits where irrational), or None."""
    if symbols(tree):
        return None
    try:
        value = exact_value(tree)
        if value is not None:
            return value
        number = numeric_value(tree, {})
    except EvaluationError:
        return None
    return _as_fraction(number)


def _as_fraction(number: object) -> Fraction | None:
    """Convert an mpmath real to an exact fraction of its binary digits."""
    mp = mpmath()
    if isinstance(number, mp.mpc):
        if number.imag != 0:
            return None
        number = number.real
    if not isinstance(number, mp.mpf) or not mp.isfinite(number):
        return None
    sign, mantissa, exponent, _ = number._mpf_
    if abs(exponent) > _MAX_VALUE_BITS:
        return None
    value = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -value if sign else value


_CHINESE_DIGITS: Final = {char: index for index, char in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
}
_CHINESE_UNITS: Final = {"十": 10, "百": 100, "千": 1000}
_CHINESE: Final = re.compile(
    "^(负?)([零〇一二两三四五六七八九十百千]{1,9})(?:万([零〇一二两三四五六七八九十百千]{0,9}))?$"
)


def chinese_integer(text: str) -> int | None:
    """Return the integer that Chinese numerals below 10^8 state, or None."""
    match = _CHINESE.match(text)
    if match is None:
        return None
    high = _below_ten_thousand(match.group(2))
    low = match.group(3)
    if high is None:
        return None
    total = high
    if low is not None:
        rest = _below_ten_thousand(low) if low else 0
        if rest is None or (low and low[0] not in "零〇" and rest < 1000):
            return None
        total = high * 10_000 + rest
    return -total if match.group(1) else total


def _below_ten_thousand(text: str) -> int | None:
    if len(text) > 1 and all(char in _CHINESE_DIGITS for char in text):
        return int("".join(str(_CHINESE_DIGITS[char]) for char in text))
    total, digit, last_unit = 0, -1, 10_000
    for char in text:
        if char in _CHINESE_UNITS:
            unit = _CHINESE_UNITS[char]
            if unit >= last_unit or (digit < 1 and not (unit == 10 and total == 0)):
                return None
            total, digit, last_unit = total + max(digit, 1) * unit, -1, unit
        elif digit > 0:
            return None
        else:
            digit = _CHINESE_DIGITS[char]
    return total + max(digit, 0)
