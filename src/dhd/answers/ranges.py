"""References of numeric items: single values, ranges, alternatives and void items (MaScQA)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dhd.answers.quantity import parse_quantity
from dhd.answers.text import clean, normalise_answer

_VOID: Final = re.compile(
    r"marks?\s+(?:are\s+|is\s+)?(?:awarded\s+|given\s+)?to\s+all|\bvoid\b|\bdropped\b|\bcancell?ed\b",
    re.I,
)
_ALTERNATIVES: Final = re.compile(r"\s+or\s+|\s*;\s*", re.IGNORECASE)
_NUMBER: Final = r"([-+]?\s*(?:\d[\d,]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)"
_RANGE: Final = re.compile(
    rf"^\s*{_NUMBER}\s*%?\s*(?:to|:|-|\.\.)\s*{_NUMBER}\s*(%?)\s*$", re.IGNORECASE
)
_ZERO_FOR_O: Final = re.compile(r"\bT0\b|(?<=\s)0R(?=\s)", re.IGNORECASE)
_O_FOR_ZERO: Final = re.compile(r"(?<=\d)[Oo](?![A-Za-z])|(?<![A-Za-z])[Oo](?=[\d.])")


@dataclass(frozen=True, slots=True)
class Target:
    """One accepted value (``low == high``, ``is_range`` False) or closed range of values."""

    low: Fraction
    high: Fraction
    is_range: bool
    unit: str = ""


def is_void(reference: str) -> bool:
    """Whether a reference says that the item was withdrawn ("Marks to all")."""
    return bool(_VOID.search(reference))


def parse_targets(reference: str) -> tuple[Target, ...]:
    """Return the accepted values of a numeric reference; empty if it is not understood.

    Knows ``42 TO 43``, ``6.00 : 7.30``, ``37-38%``, alternatives with OR, and the typing
    errors of the MaScQA sheet (``T0`` for TO, the letter O for zero).
    """
    text = clean(normalise_answer(reference))
    text = _O_FOR_ZERO.sub("0", _ZERO_FOR_O.sub(lambda m: m.group().replace("0", "O"), text))
    targets = [_parse_target(part) for part in _ALTERNATIVES.split(text)]
    found = [target for target in targets if target is not None]
    return tuple(found) if len(found) == len(targets) else ()


def _parse_target(text: str) -> Target | None:
    match = _RANGE.match(text)
    if match is not None:
        ends = [parse_quantity(match.group(index).replace(" ", "")) for index in (1, 2)]
        if ends[0] is None or ends[1] is None:
            return None
        low, high = sorted((ends[0].value, ends[1].value))
        return Target(low, high, is_range=True, unit=match.group(3))
    quantity = parse_quantity(text)
    if quantity is None:
        return None
    return Target(quantity.value, quantity.value, is_range=False, unit=quantity.unit)
