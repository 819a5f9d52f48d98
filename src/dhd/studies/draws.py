"""Random choices that follow from a seed and names alone, by hashing.

Unlike a generator's stream, the place of one item does not depend on which others there are:
more problems, another benchmark or a larger sample leave the order of the rest as it is.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")

_BITS = 53


def hashed(seed: int, *names: object) -> int:
    """Return a uniform 53-bit integer that belongs to these names."""
    parts = [str(seed), *map(str, names)]
    text = "".join(f"{len(part)}:{part}" for part in parts)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) >> (64 - _BITS)


def uniform(seed: int, *names: object) -> float:
    """Return a uniform number in [0, 1) that belongs to these names."""
    return math.ldexp(hashed(seed, *names), -_BITS)


def shuffled(
    items: Iterable[T], seed: int, label: str, *, key: Callable[[T], str] = str
) -> list[T]:
    """Return items in a random order that belongs to ``label``; ``key`` tells them apart."""
    return sorted(items, key=lambda item: (hashed(seed, label, key(item)), key(item)))
