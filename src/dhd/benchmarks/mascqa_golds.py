"""The shapes of MaScQA's reference answers, as its score sheet writes them."""

from __future__ import annotations

import re
from typing import Literal

GoldShape = Literal["letter", "letters", "alternatives", "number", "range", "void", "other"]

_NUMBER = r"[+\-−]?\d[\d,]*(?:\.\d+)?"
_RANGE = rf"{_NUMBER}\s*(?::|T[O0])\s*{_NUMBER}"
_SHAPES: dict[GoldShape, str] = {
    "letter": r"[A-D]",
    "letters": r"[A-D](?:\s*[,;]\s*[A-D])+",
    "alternatives": r"[A-D](?:\s+OR\s+[A-D])+",
    "number": _NUMBER,
    "range": rf"{_RANGE}(?:\s+OR\s+{_RANGE})*",
    "void": r"MARKS\s+TO\s+ALL",
}


def gold_shape(gold: str) -> GoldShape:
    """Return the shape of a trimmed reference.

    ``letter`` B · ``letters`` B; D (all of them) · ``alternatives`` C OR D (any of them) ·
    ``number`` 300 · ``range`` 42 TO 43, 6.00 : 7.30, 0.9 to 1 OR -1 to -0.9, 350 T0 350 ·
    ``void`` Marks to all (the examiners withdrew the question) · ``other``, e.g. a typo.
    """
    for shape, pattern in _SHAPES.items():
        if re.fullmatch(pattern, gold, re.IGNORECASE):
            return shape
    return "other"
