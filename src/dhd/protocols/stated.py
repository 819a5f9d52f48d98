r"""Numbers that a text states, in the notations of prose and LaTeX, for the check of hints.

Where a notation has two readings (``12 500``, ``1,234``), both are taken: a number too many
costs a hint, a number too few would let a reference through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_VALUE_OF: Final = {
    "zero": "0", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13",
    "fourteen": "14", "fifteen": "15", "sixteen": "16", "seventeen": "17", "eighteen": "18",
    "nineteen": "19", "twenty": "20", "half": "0.5",
}  # fmt: skip
_NUMBER_WORD: Final = re.compile(rf"\b(?:{'|'.join(_VALUE_OF)})\b", re.IGNORECASE)
#: Elsewhere "one" is mostly no number.
_ONE: Final = re.compile(
    r"((?:\b(?:is|are|be|equals|equal to|exactly|only|just|answer|value)|[=:])\s*)\bone\b(?! of)",
    re.IGNORECASE,
)
_GROUPS: Final = re.compile(r"(?<![\d.])\d{1,3}(?:[ ,']\d{3})+(?!\d)")
_DECIMAL_COMMA: Final = re.compile(r"(?<=\d),(?=\d)")

_EXPONENT: Final = r"(?:\{\s*[-+]?\s*\d{1,2}\s*\}|\(\s*[-+]?\d{1,2}\s*\)|[-+]?\d{1,2}(?!\d))"
_TIMES: Final = r"(?:\\times|\\cdot|[xX*])"
_NUMBER: Final = re.compile(
    r"(?<![\w.])(?P<number>(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})"
    rf"(?:[eE][-+]?\d{{1,2}}(?!\d)|\s*{_TIMES}\s*10\s*\^\s*{_EXPONENT}|\s*\^\s*{_EXPONENT})?)"
    r"\s*(?P<unit>%|per\s?cent\b|[A-Za-z]{1,8}(?![A-Za-z]))?"
)
_BRACED: Final = r"(?:\{\s*\d{1,15}\s*\}|\d)"
_FRACTION: Final = re.compile(
    rf"(?<![\w.])(?:\d{{1,15}}\s*)?\\frac\s*{_BRACED}\s*{_BRACED}"
    r"|(?<![\w./])(?:\d{1,15}\s+)?\d{1,15}\s*/\s*\d{1,15}(?![\w/])"
)


def stated_numbers(text: str) -> Iterator[tuple[str, str]]:
    """Yield the numbers of a cleaned text, without their signs, as `parse_quantity` reads them.

    Yields
    ------
    number, unit
        Each number without a unit, and once more with the word or percent sign that follows
        it, if there is one. The numbers in a fraction are given beside the fraction.
    """
    text = _ONE.sub(r"\g<1>1", text)
    text = _NUMBER_WORD.sub(lambda match: _VALUE_OF[match.group().lower()], text)
    readings = (
        text,
        _GROUPS.sub(lambda match: re.sub(r"[ ,']", "", match.group()), text),
        _DECIMAL_COMMA.sub(".", text),
    )
    found: dict[tuple[str, str], None] = {}
    for reading in dict.fromkeys(readings):
        for fraction in _FRACTION.finditer(reading):
            found[fraction.group(), ""] = None
        for match in _NUMBER.finditer(reading):
            number, unit = match.group("number"), match.group("unit")
            found[number, ""] = None
            if unit:
                found[number, "%" if unit.startswith("per") else unit] = None
    yield from found
