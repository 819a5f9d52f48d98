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


def _unit(factor: str | int, **dimensions: int) -> tuple[Fraction, dict[str, int]]:
    return Fraction(factor), dimensions


_PREFIXES: Final = {
    "y": -24, "z": -21, "a": -18, "f": -15, "p": -12, "n": -9, "u": -6, r"\mu": -6, "m": -3,
    "c": -2, "d": -1, "h": 2, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
    "pico": -12, "nano": -9, "micro": -6, "milli": -3, "centi": -2, "kilo": 3, "mega": 6,
    "giga": 9,
}  # fmt: skip
_PREFIXED: Final = {
    "m": _unit(1, m=1), "g": _unit("1e-3", kg=1), "s": _unit(1, s=1), "A": _unit(1, A=1),
    "K": _unit(1, K=1), "mol": _unit(1, mol=1), "Hz": _unit(1, s=-1),
    "N": _unit(1, kg=1, m=1, s=-2), "J": _unit(1, kg=1, m=2, s=-2),
    "W": _unit(1, kg=1, m=2, s=-3), "Pa": _unit(1, kg=1, m=-1, s=-2), "PA": _unit(1, kg=1, m=-1, s=-2),
    "C": _unit(1, A=1, s=1), "V": _unit(1, kg=1, m=2, s=-3, A=-1),
    "F": _unit(1, kg=-1, m=-2, s=4, A=2), r"\Omega": _unit(1, kg=1, m=2, s=-3, A=-2),
    "ohm": _unit(1, kg=1, m=2, s=-3, A=-2), "T": _unit(1, kg=1, s=-2, A=-1),
    "Wb": _unit(1, kg=1, m=2, s=-2, A=-1), "H": _unit(1, kg=1, m=2, s=-2, A=-2),
    "L": _unit("1e-3", m=3), "l": _unit("1e-3", m=3), "eV": _unit("1.602176634e-19", kg=1, m=2, s=-2),
    "cal": _unit("4.184", kg=1, m=2, s=-2), "bar": _unit(100_000, kg=1, m=-1, s=-2),
    "S": _unit(1, kg=-1, m=-2, s=3, A=2), "Bq": _unit(1, s=-1), "M": _unit(1000, mol=1, m=-3),
    "meter": _unit(1, m=1), "metre": _unit(1, m=1), "gram": _unit("1e-3", kg=1),
    "second": _unit(1, s=1), "joule": _unit(1, kg=1, m=2, s=-2), "newton": _unit(1, kg=1, m=1, s=-2),
    "watt": _unit(1, kg=1, m=2, s=-3), "pascal": _unit(1, kg=1, m=-1, s=-2),
    "volt": _unit(1, kg=1, m=2, s=-3, A=-1), "hertz": _unit(1, s=-1), "kelvin": _unit(1, K=1),
    "mole": _unit(1, mol=1), "coulomb": _unit(1, A=1, s=1), "ampere": _unit(1, A=1),
    "liter": _unit("1e-3", m=3), "litre": _unit("1e-3", m=3), "calorie": _unit("4.184", kg=1, m=2, s=-2),
}  # fmt: skip
_PLAIN: Final = {
    "%": _unit("1e-2"), "percent": _unit("1e-2"), "pct": _unit("1e-2"), "rad": _unit(1),
    "radian": _unit(1), "deg": _unit("0.017453292519943295"), "degree": _unit("0.017453292519943295"),
    "°": _unit("0.017453292519943295"), "°C": _unit(1, celsius=1), "°F": _unit(1, fahrenheit=1),
    "min": _unit(60, s=1), "minute": _unit(60, s=1), "sec": _unit(1, s=1), "h": _unit(3600, s=1),
    "hr": _unit(3600, s=1), "hour": _unit(3600, s=1), "day": _unit(86_400, s=1), "d": _unit(86_400, s=1),
    "week": _unit(604_800, s=1), "month": _unit(1, month=1), "yr": _unit(31_557_600, s=1),
    "year": _unit(31_557_600, s=1), "atm": _unit(101_325, kg=1, m=-1, s=-2),
    "Torr": _unit("133.322368", kg=1, m=-1, s=-2), "torr": _unit("133.322368", kg=1, m=-1, s=-2),
    "mmHg": _unit("133.322368", kg=1, m=-1, s=-2), "Å": _unit("1e-10", m=1),
    "angstrom": _unit("1e-10", m=1), "ft": _unit("0.3048", m=1), "foot": _unit("0.3048", m=1),
    "feet": _unit("0.3048", m=1), "in": _unit("0.0254", m=1), "inch": _unit("0.0254", m=1),
    "yd": _unit("0.9144", m=1), "yard": _unit("0.9144", m=1), "mi": _unit("1609.344", m=1),
    "mile": _unit("1609.344", m=1), "mph": _unit("0.44704", m=1, s=-1),
    "AU": _unit(149_597_870_700, m=1), "D": _unit("3.33564e-30", A=1, s=1, m=1), "lb": _unit(1, lb=1),
    "pound": _unit(1, lb=1), "slug": _unit(1, slug=1), "dB": _unit(1, dB=1), "tonne": _unit(1000, kg=1),
    "ton": _unit(1, ton=1), "dollar": _unit(1, dollar=1), "cent": _unit("0.01", dollar=1),
    "rpm": _unit("0.10471975511965977", s=-1), "rev": _unit(1, rev=1), "hectare": _unit(10_000, m=2),
    "acre": _unit(1, acre=1), "gallon": _unit(1, gallon=1), "KJ": _unit(1000, kg=1, m=2, s=-2),
}  # fmt: skip
_WORD_LENGTH: Final = 4
_POWER: Final = r"(?:\s*\^\s*(?:\{\s*([-+]?\d+)\s*\}|([-+]?\d)))?"
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
        power = int(match.group(2) or match.group(3) or 1)
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
    entry, exponent = _PLAIN.get(name) or _PREFIXED.get(name), 0
    if entry is None:
        for prefix, power in _PREFIXES.items():
            rest = name.removeprefix(prefix)
            if rest != name and rest in _PREFIXED and (len(prefix) > 3) == (len(rest) > 3):
                entry, exponent = _PREFIXED[rest], power
    if entry is None:
        return None
    factor, dimensions = entry
    powers = {dimension: Fraction(power) for dimension, power in dimensions.items()}
    return Unit(factor * Fraction(10) ** exponent, _sorted(powers))


def _joined(name: str) -> Unit | None:
    """Read two one-letter units written together, such as ``JK`` or ``Nm``."""
    if len(name) != 2 or not all(letter in _PREFIXED for letter in name):
        return None
    first, second = (_table_entry(letter) for letter in name)
    if first is None or second is None:
        return None
    dimensions = dict(first.dimensions)
    for key, power in second.dimensions:
        dimensions[key] = dimensions.get(key, Fraction(0)) + power
    return Unit(first.factor * second.factor, _sorted(dimensions))
