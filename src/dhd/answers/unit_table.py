"""The units that answers use, in SI base units; counts and odd units have own dimensions."""

from __future__ import annotations

from fractions import Fraction
from typing import Final


def _unit(factor: str | int, **dimensions: int) -> tuple[Fraction, dict[str, int]]:
    return Fraction(factor), dimensions


PREFIXES: Final = {
    "y": -24, "z": -21, "a": -18, "f": -15, "p": -12, "n": -9, "u": -6, r"\mu": -6, "m": -3,
    "c": -2, "d": -1, "h": 2, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18, "pico": -12,
    "nano": -9, "micro": -6, "milli": -3, "centi": -2, "kilo": 3, "mega": 6, "giga": 9,
}  # fmt: skip
"""Powers of ten of the prefixes."""
PREFIXED: Final = {
    "m": _unit(1, m=1), "g": _unit("1e-3", kg=1), "s": _unit(1, s=1), "A": _unit(1, A=1),
    "K": _unit(1, K=1), "mol": _unit(1, mol=1), "Hz": _unit(1, s=-1),
    "N": _unit(1, kg=1, m=1, s=-2), "J": _unit(1, kg=1, m=2, s=-2), "W": _unit(1, kg=1, m=2, s=-3),
    "Pa": _unit(1, kg=1, m=-1, s=-2), "PA": _unit(1, kg=1, m=-1, s=-2), "C": _unit(1, A=1, s=1),
    "V": _unit(1, kg=1, m=2, s=-3, A=-1), "F": _unit(1, kg=-1, m=-2, s=4, A=2),
    r"\Omega": _unit(1, kg=1, m=2, s=-3, A=-2), "ohm": _unit(1, kg=1, m=2, s=-3, A=-2),
    "T": _unit(1, kg=1, s=-2, A=-1), "Wb": _unit(1, kg=1, m=2, s=-2, A=-1),
    "H": _unit(1, kg=1, m=2, s=-2, A=-2), "L": _unit("1e-3", m=3), "l": _unit("1e-3", m=3),
    "eV": _unit("1.602176634e-19", kg=1, m=2, s=-2), "cal": _unit("4.184", kg=1, m=2, s=-2),
    "bar": _unit(100_000, kg=1, m=-1, s=-2), "S": _unit(1, kg=-1, m=-2, s=3, A=2),
    "Bq": _unit(1, s=-1), "M": _unit(1000, mol=1, m=-3), "meter": _unit(1, m=1),
    "metre": _unit(1, m=1), "gram": _unit("1e-3", kg=1), "second": _unit(1, s=1),
    "joule": _unit(1, kg=1, m=2, s=-2), "newton": _unit(1, kg=1, m=1, s=-2),
    "watt": _unit(1, kg=1, m=2, s=-3), "pascal": _unit(1, kg=1, m=-1, s=-2),
    "volt": _unit(1, kg=1, m=2, s=-3, A=-1), "hertz": _unit(1, s=-1), "kelvin": _unit(1, K=1),
    "mole": _unit(1, mol=1), "coulomb": _unit(1, A=1, s=1), "ampere": _unit(1, A=1),
    "liter": _unit("1e-3", m=3), "litre": _unit("1e-3", m=3),
    "calorie": _unit("4.184", kg=1, m=2, s=-2),
}  # fmt: skip
"""Units that take prefixes."""
PLAIN: Final = {
    "%": _unit("1e-2"), "percent": _unit("1e-2"), "pct": _unit("1e-2"), "rad": _unit(1),
    "radian": _unit(1), "deg": _unit("0.017453292519943295"),
    "degree": _unit("0.017453292519943295"), "°": _unit("0.017453292519943295"),
    "°C": _unit(1, celsius=1), "°F": _unit(1, fahrenheit=1), "min": _unit(60, s=1),
    "minute": _unit(60, s=1), "sec": _unit(1, s=1), "h": _unit(3600, s=1), "hr": _unit(3600, s=1),
    "hour": _unit(3600, s=1), "day": _unit(86_400, s=1), "d": _unit(86_400, s=1),
    "week": _unit(604_800, s=1), "month": _unit(1, month=1), "yr": _unit(31_557_600, s=1),
    "year": _unit(31_557_600, s=1), "atm": _unit(101_325, kg=1, m=-1, s=-2),
    "Torr": _unit("133.322368", kg=1, m=-1, s=-2), "torr": _unit("133.322368", kg=1, m=-1, s=-2),
    "mmHg": _unit("133.322368", kg=1, m=-1, s=-2), "Å": _unit("1e-10", m=1),
    "angstrom": _unit("1e-10", m=1), "ft": _unit("0.3048", m=1), "foot": _unit("0.3048", m=1),
    "feet": _unit("0.3048", m=1), "in": _unit("0.0254", m=1), "inch": _unit("0.0254", m=1),
    "yd": _unit("0.9144", m=1), "yard": _unit("0.9144", m=1), "mi": _unit("1609.344", m=1),
    "mile": _unit("1609.344", m=1), "mph": _unit("0.44704", m=1, s=-1),
    "AU": _unit(149_597_870_700, m=1), "D": _unit("3.33564e-30", A=1, s=1, m=1),
    "lb": _unit(1, lb=1), "pound": _unit(1, lb=1), "slug": _unit(1, slug=1), "dB": _unit(1, dB=1),
    "tonne": _unit(1000, kg=1), "ton": _unit(1, ton=1), "dollar": _unit(1, dollar=1),
    "cent": _unit("0.01", dollar=1), "rpm": _unit("0.10471975511965977", s=-1),
    "rev": _unit(1, rev=1), "hectare": _unit(10_000, m=2), "acre": _unit(1, acre=1),
    "gallon": _unit(1, gallon=1), "KJ": _unit(1000, kg=1, m=2, s=-2),
}  # fmt: skip
"""Units without prefixes."""
