"""Self-reported confidence as a number in [0, 1]."""

from __future__ import annotations

import re
from decimal import Decimal
from types import MappingProxyType
from typing import Final

import numpy as np
import pandas as pd

from dhd.analysis.bootstrap import FloatArray
from dhd.analysis.cells import Texts

#: What a verbal report stands for.
WORDS: Final = MappingProxyType(
    {"very high": 0.95, "high": 0.8, "medium": 0.6, "low": 0.35, "very low": 0.2}
)
#: What a message without any readable report gets.
ABSENT: Final = 0.5

# Possessive quantifiers keep the search linear in hostile text. A number is not part of a
# word or of another number.
_NUMBER: Final = re.compile(
    r"(?<![0-9A-Za-z_.])(?P<number>[-−]?+(?:[0-9]++(?:\.[0-9]++)?+|\.[0-9]++))(?P<percent>\s*+%)?+"
)
_WORD: Final = re.compile(r"\b(very[\s-]+)?(high|medium|low)\b", re.IGNORECASE)


def parse_confidence(text: str | None) -> float:
    """Return what a self-report stands for (paper, budget-one policies).

    The first percentage from 0 to 100 in the text, else the first number in [0, 1], else the
    first word of :data:`WORDS`, else :data:`ABSENT`.
    """
    if text is None:
        return ABSENT
    found = [
        (Decimal(match["number"].replace("−", "-")), match["percent"] is not None)
        for match in _NUMBER.finditer(text)
    ]
    for value, is_percentage in found:
        if is_percentage and 0 <= value <= 100:
            # Decimal arithmetic: 57.3% and 0.573 must tie.
            return float(value / 100)
    for value, is_percentage in found:
        if not is_percentage and 0 <= value <= 1:
            return float(value)
    word = _WORD.search(text)
    if word is None:
        return ABSENT
    level = word[2].lower()
    # Medium has no stronger form: "very medium" is medium.
    return WORDS[f"very {level}" if word[1] and level != "medium" else level]


def confidence_values(texts: Texts) -> FloatArray:
    """Return :func:`parse_confidence` of every text; any shape."""
    codes, distinct = pd.factorize(texts.ravel())
    # Missing texts have the code -1, which is the last entry.
    values = np.asarray([*(parse_confidence(text) for text in distinct), ABSENT])
    return np.asarray(values[codes].reshape(texts.shape), dtype=np.float64)
