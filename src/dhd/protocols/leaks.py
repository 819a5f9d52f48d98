"""Hints that give the reference away, and what is said in their place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from string import ascii_uppercase
from typing import Final

from dhd.answers import normalise_answer
from dhd.problems import Problem

NEUTRAL_HINT: Final = (
    "The submitted answer does not match. Check the approach, every step and the form of the "
    "answer, and solve the problem again."
)
"""Stands in for a hint that leaks, that cannot be read, or that no model writes."""

NO_ANSWER_HINT: Final = (
    "No final answer was found. Give one final answer in the form that is asked for."
)
"""The hint of an attempt without a final answer, for which no evaluator is asked."""

_LETTER_FORMATS: Final = ("choice", "multi_choice", "matching")
_NUMBER_FORMATS: Final = ("integer", "numeric")
_LETTERS: Final = re.compile(r"(?<![A-Za-z])[A-Z]{1,8}(?![A-Za-z])")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NUMBER: Final = re.compile(
    r"(?<![\w.])[-+]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][-+]?\d{1,2})?"
)
_FRACTION: Final = re.compile(
    r"([-+]?)(?:\\[dt]?frac\s*\{\s*([-+]?\d{1,15})\s*\}\s*\{\s*(\d{1,15})\s*\}"
    r"|(?<![\w./])(\d{1,15})\s*/\s*(\d{1,15})(?![\w/]))"
)
_WORD: Final = re.compile(r"[^\W_]+")


def reveals_reference(hint: str, problem: Problem) -> bool:
    """Tell whether a hint contains the problem's reference in some form.

    Looked for are the normalised reference without regard to case, spacing and markup; a
    number of the same value, where the reference is a number; and, where letters are the
    answer, any of the right letters standing alone or the text of a right option. The test is
    meant to refuse too much rather than too little: a refused hint costs a hint, a passed one
    would cost the study.
    """
    said, reference = normalise_answer(hint), normalise_answer(problem.reference)
    if _contains(said, reference):
        return True
    if problem.answer_format in _LETTER_FORMATS and _names_letters(said, reference, problem):
        return True
    is_numeric = problem.answer_format in _NUMBER_FORMATS
    values = set(_values(reference)) if is_numeric else set(_single_value(reference))
    return not values.isdisjoint(_values(said))


def _contains(text: str, part: str) -> bool:
    """Tell whether a text contains a part as words of its own, whatever markup is between.

    A single character counts in its own case only.
    """
    words = _WORD.findall(part)
    if not words:
        return bool(part) and part in text
    pattern = r"[\W_]*".join(map(re.escape, words))
    flags = re.IGNORECASE if len(words) > 1 or len(words[0]) > 1 else re.NOFLAG
    return re.search(rf"(?<![^\W_]){pattern}(?![^\W_])", text, flags) is not None


def _names_letters(said: str, reference: str, problem: Problem) -> bool:
    right = {letter for run in _LETTERS.findall(reference) for letter in run}
    named = [set(run) for run in _LETTERS.findall(said)]
    if any(right <= run or (len(run) == 1 and run & right) for run in named if right):
        return True
    options = zip(ascii_uppercase, problem.options or (), strict=False)
    return any(
        _contains(said, normalise_answer(option)) for letter, option in options if letter in right
    )


def _single_value(reference: str) -> list[Fraction]:
    """Return the value of a reference that is one number or fraction, else nothing."""
    bare = _THOUSANDS.sub("", reference).strip()
    is_number = _FRACTION.fullmatch(bare) or _NUMBER.fullmatch(bare)
    return list(_values(bare))[:1] if is_number else []


def _values(text: str) -> Iterator[Fraction]:
    """Yield the value of every fraction and number in a text, fractions first."""
    text = _THOUSANDS.sub("", text).replace("−", "-")
    for match in _FRACTION.finditer(text):
        sign, above, below, plain_above, plain_below = match.groups()
        denominator = int(below or plain_below)
        if denominator:
            value = Fraction(int(above or plain_above), denominator)
            yield -value if sign == "-" else value
    for match in _NUMBER.finditer(text):
        yield Fraction(match.group())
