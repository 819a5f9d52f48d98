r"""Whether two simulated answers mean the same, without the rules of `dhd.answers`.

A simulated evaluator has to be a second opinion that is fast: it knows the forms in which
stand-in answers are written (``\frac{a}{b}``, a/b, decimals, ``a\sqrt{b}``, letters, pairs) and
compares all other texts without regard to case and white space.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Final

_FRACTION: Final = re.compile(r"\\frac\{(-?\d{1,15})\}\{(\d{1,15})\}|(-?\d{1,15})/(\d{1,15})")
_ROOT: Final = re.compile(r"(\d{0,9})\\sqrt\{(\d{1,15})\}")
_NUMBER: Final = re.compile(r"-?\d{1,30}(?:\.\d{1,30})?(?:[eE][-+]?\d{1,3})?")
_LETTERS: Final = re.compile(r"[a-z](?:[,;]?[a-z]){0,25}")


@lru_cache(maxsize=65_536)
def same_answer(one: str, other: str) -> bool:
    """Tell whether two answers mean the same."""
    return _canonical(one) == _canonical(other)


def _canonical(answer: str) -> tuple[str, object]:
    """Return the kind and value of an answer; equal for equal meanings."""
    text = "".join(answer.split()).strip("$").casefold()
    if _NUMBER.fullmatch(text):
        return "number", Fraction(text)
    if (found := _FRACTION.fullmatch(text)) and int(found[2] or found[4]):
        return "number", Fraction(int(found[1] or found[3]), int(found[2] or found[4]))
    if found := _ROOT.fullmatch(text):
        return "root", int(found[1] or 1) ** 2 * int(found[2])
    if _LETTERS.fullmatch(text):
        return "letters", frozenset(text) - {",", ";"}
    return "text", text
