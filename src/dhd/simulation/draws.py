"""Random numbers that follow from names: the same names give the same numbers everywhere."""

from __future__ import annotations

import hashlib
import struct
from statistics import NormalDist
from typing import Final

COUNT: Final = 16
"""Numbers that one name gives."""

_UNPACK: Final = struct.Struct(f"<{COUNT}I").unpack
_SCALE: Final = 1.0 / 2**32
_NORMAL: Final = NormalDist()


def uniforms(*names: str) -> tuple[float, ...]:
    """Return `COUNT` independent numbers, uniform in (0, 1), that follow from the names."""
    text = "\x1f".join(names).encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(text, digest_size=4 * COUNT).digest()
    return tuple([(word + 0.5) * _SCALE for word in _UNPACK(digest)])


def normal(uniform: float) -> float:
    """Return the standard normal number whose distribution function is ``uniform``."""
    return _NORMAL.inv_cdf(uniform)


def share_below(value: float) -> float:
    """Return the standard normal distribution function."""
    return _NORMAL.cdf(value)
