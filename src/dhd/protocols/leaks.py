"""Hints that give the reference away, and what is said in their place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from string import ascii_uppercase
from typing import Final

from dhd.answers import normalise_answer
from dhd.answers.compare import compare_by_rules
from dhd.answers.numeric import compare_integer, compare_numeric
from dhd.answers.quantity import parse_quantity
from dhd.answers.text import MAX_CHARS, clean
from dhd.problems import Problem
from dhd.protocols.stated import stated_numbers

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
_BRACKETED: Final = re.compile(r"(?<![A-Za-z\\])([a-z])\s*[)\]}]")
_NAMED: Final = re.compile(
    r"\b(?:options?|answers?|choices?|letters?|alternatives?|statements?|items?)"
    r"(?:\s+(?:is|are|be|should\s+be|must\s+be|to))?\s*:?\s*[\"'(\[]?\s*"
    r"([a-z]{1,8}(?![A-Za-z])(?:\s*(?:,\s*and\b|,|;|/|&|\band\b|\bor\b)\s*[a-z](?![A-Za-z]))*)",
    re.IGNORECASE,
)
_NAMED_LETTER: Final = re.compile(r"\b[A-Za-z]{1,8}\b")
_ROOT: Final = re.compile(r"\\surd(?![a-zA-Z])|\b(?:square[\s-]+)?root(?:\s+of)?\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W_]+")
_MOST_NUMBERS: Final = 60
"""A hint with more is none, and reading all of them would take seconds."""
_TELLING_DIGITS: Final = 3
"""A whole number with as many digits may be a rounded reference; 3 in prose is just 3."""


def reveals_reference(hint: str, problem: Problem) -> bool:
    """Tell whether a hint contains the problem's reference in some form.

    Looked for are the reference without regard to case, spacing and markup; where it is a
    number, any number that the rules would not call wrong, whatever its sign; and, where
    letters are the answer, any of the right letters standing alone, or the text or value of a
    right option. The test is meant to refuse too much rather than too little: a refused hint
    costs a hint, a passed one would cost the study.
    """
    said, reference = normalise_answer(hint), normalise_answer(problem.reference)
    if len(said) > MAX_CHARS:
        return True
    if _contains(said, reference) or _contains(_plain(said), _plain(reference)):
        return True
    if problem.answer_format in _LETTER_FORMATS:
        return _names_letters(said, reference, problem)
    return _states_value(said, problem)


def _plain(text: str) -> str:
    """Return a normalised text in the one spelling of the comparison rules; roots as ``sqrt``."""
    return _ROOT.sub(" sqrt ", clean(text))


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
    if not right:
        return False
    capitals = [set(run) for run in _LETTERS.findall(said)]
    if any(right <= run or (len(run) == 1 and run & right) for run in capitals):
        return True
    if any(run == right or (len(run) == 1 and run & right) for run in _lower_letters(said)):
        return True
    options = zip(ascii_uppercase, problem.options or (), strict=False)
    return any(_gives_option(said, option) for letter, option in options if letter in right)


def _lower_letters(said: str) -> Iterator[set[str]]:
    """Yield lower-case letters in brackets, and words that options are named by."""
    yield from ({letter.upper()} for letter in _BRACKETED.findall(said))
    for names in _NAMED.findall(said):
        yield from (set(name.upper()) for name in _NAMED_LETTER.findall(names))


def _gives_option(said: str, option: str) -> bool:
    """Tell whether a hint gives an option's text, or its value where it is a number."""
    text = normalise_answer(option)
    if _contains(said, text) or _contains(_plain(said), _plain(text)):
        return True
    return _states_value(said, Problem("", "", "", text, "math"))


def _states_value(said: str, problem: Problem) -> bool:
    """Tell whether a hint has a number that may pass for a reference that is a number."""
    reference = clean(normalise_answer(problem.reference))
    if problem.answer_format == "text" or (
        problem.answer_format == "math" and parse_quantity(reference) is None
    ):
        return False
    numbers = list(stated_numbers(clean(said)))
    if len(numbers) > _MOST_NUMBERS:
        return True
    if problem.answer_format in _NUMBER_FORMATS:
        known = _values(stated_numbers(reference))
        if not known.isdisjoint(_values(numbers)):
            return True
    return any(_may_pass(sign + number, unit, problem) for number, unit in numbers for sign in "+-")


def _values(numbers: Iterable[tuple[str, str]]) -> set[Fraction]:
    read = (parse_quantity(number) for number, unit in numbers if not unit)
    return {quantity.value for quantity in read if quantity is not None}


def _may_pass(number: str, unit: str, problem: Problem) -> bool:
    """Tell whether the rules accept a number, or leave it open because it is near."""
    submitted = f"{number} {unit}".strip()
    if problem.answer_format == "integer":
        return compare_integer(problem.reference, submitted).equivalent is True
    if problem.answer_format == "numeric":
        compared = compare_numeric(
            problem.reference,
            submitted,
            benchmark=problem.benchmark,
            unit=problem.unit,
            prompt_shows_factor=True,
        )
        is_open = compared.reason == "numeric_undecided"
    else:
        compared = compare_by_rules(problem, submitted)
        digits = sum(char.isdigit() for char in number)
        is_open = compared.equivalent is None and ("." in number or digits >= _TELLING_DIGITS)
    return compared.equivalent is True or (is_open and not unit)
