"""Physical units: what a unit text means, as a factor and dimensions.

Temperatures in degrees Celsius and Fahrenheit have an offset, so they have dimensions of their
own and are never converted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from dhd.answers.unit_table import PLAIN, PREFIXED, PREFIXES

Dimensions = tuple[tuple[str, Fraction], ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its size in base units and its dimensions, sorted by name, none zero."""

    factor: Fraction
    dimensions: Dimensions

    @property
    def is_percent(self) -> bool:
        """Whether this is a plain hundredth."""
        return not self.dimensions and self.factor == Fraction(1, 100)


_WORD_LENGTH: Final = 4
_POWER: Final = r"(?:\s*\^\s*(?:\{\s*([-+]?\d+)\s*\}|([-+]?\d))|([-+]?\d)(?!\d))?"
_FACTOR: Final = re.compile(
    r"(°\s*[CF](?![a-zA-Z])|\\mu\s*[a-zA-Z]*|\\Omega|[kMGm]\\Omega|°|%|[a-zA-ZÅ]+)" + _POWER
)
_SEPARATOR: Final = re.compile(r"\s*(\\cdot|\\times|[*.-])?\s*")
_LEADING_POWER: Final = re.compile(
    r"^\s*(?:(?:\\times|[x*])\s*)?\{?10\s*\^\s*(?:\{\s*([-+]?\d{1,3})\s*\}|(\d))\s*\}?"
)


def split_factor(text: str) -> tuple[Fraction, str]:
    r"""Split a cleaned unit field such as ``10^{13} Hz`` into its power of ten and the unit."""
    match = _LEADING_POWER.match(text)
    if match is None:
        return Fraction(1), text.strip()
    exponent = int(match.group(1) or match.group(2))
    return Fraction(10) ** exponent, text[match.end() :].lstrip(" }").strip()


@lru_cache(maxsize=4096)
def parse_unit(text: str) -> Unit | None:
    """Return the meaning of a cleaned unit text, or None if it is not known or has two readings.

    ``J/K/mol``, ``J K^{-1} mol^{-1}`` and ``J/(K mol)`` are the same; ``J/K mol`` has two
    readings. The empty text is no unit.
    """
    text = text.strip().strip("()") if "/" not in text else text.strip()
    if not text or len(text) > 80:
        return None
    numerator, *denominators = text.split("/")
    if any(_is_open_product(part) for part in denominators):
        return None
    signed = [(numerator, 1), *((part, -1) for part in denominators)]
    factor, dimensions = Fraction(1), dict[str, Fraction]()
    for part, sign in signed:
        bare = part.strip().removeprefix("(").removesuffix(")").strip()
        if bare in ("", "1") and sign > 0 and denominators:
            continue
        if (product := _parse_product(bare)) is None:
            return None
        factor *= product.factor**sign
        for name, power in product.dimensions:
            dimensions[name] = dimensions.get(name, Fraction(0)) + sign * power
    return Unit(factor, _sorted(dimensions))


def _sorted(dimensions: dict[str, Fraction]) -> Dimensions:
    return tuple(sorted((name, power) for name, power in dimensions.items() if power))


def _is_open_product(part: str) -> bool:
    bare = part.strip()
    return not bare.startswith("(") and len(_FACTOR.findall(bare)) > 1


def _parse_product(text: str) -> Unit | None:
    factor, dimensions = Fraction(1), dict[str, Fraction]()
    position = 0
    while position < len(text):
        match = _FACTOR.match(text, position)
        unit = None if match is None else _lookup("".join(match.group(1).split()))
        if match is None or unit is None:
            return None
        power = int(match.group(2) or match.group(3) or match.group(4) or 1)
        if abs(power) > 12:
            return None
        factor *= unit.factor**power
        for name, exponent in unit.dimensions:
            dimensions[name] = dimensions.get(name, Fraction(0)) + exponent * power
        gap = _SEPARATOR.match(text, match.end())
        position = match.end() if gap is None else gap.end()
    return Unit(factor, _sorted(dimensions)) if text else None


def _lookup(name: str) -> Unit | None:
    for candidate in (name, name.lower() if len(name) >= _WORD_LENGTH else name):
        for singular in (candidate, candidate.removesuffix("s"), candidate.removesuffix("es")):
            if len(candidate) < _WORD_LENGTH - 1 and singular != candidate:
                continue
            if (found := _table_entry(singular)) is not None:
                return found
    return _joined(name)


def _table_entry(name: str) -> Unit | None:
    entry, exponent = PLAIN.get(name) or PREFIXED.get(name), 0
    if entry is None:
        for prefix, power in PREFIXES.items():
            rest = name.removeprefix(prefix)
            if rest != name and rest in PREFIXED and (len(prefix) > 3) == (len(rest) > 3):
                entry, exponent = PREFIXED[rest], power
    if entry is None:
        return None
    factor, dimensions = entry
    powers = {dimension: Fraction(power) for dimension, power in dimensions.items()}
    return Unit(factor * Fraction(10) ** exponent, _sorted(powers))


def _joined(name: str) -> Unit | None:
    """Read two one-letter units written together, such as ``JK`` or ``Nm``."""
    if len(name) != 2 or not all(letter in PREFIXED for letter in name):
        return None
    first, second = (_table_entry(letter) for letter in name)
    if first is None or second is None:
        return None
    dimensions = dict(first.dimensions)
    for key, power in second.dimensions:
        dimensions[key] = dimensions.get(key, Fraction(0)) + power
    return Unit(first.factor * second.factor, _sorted(dimensions))
