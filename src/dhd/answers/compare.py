"""Comparison of a submitted answer with a problem's reference."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dhd.answers import symbolic
from dhd.answers.choices import compare_choice, compare_multi_choice
from dhd.answers.matching import compare_matching
from dhd.answers.numeric import compare_integer, compare_numeric
from dhd.answers.quantity import parse_quantity
from dhd.answers.readings import read_answer
from dhd.answers.result import Comparison, decided, deferred
from dhd.answers.shapes import compare_readings
from dhd.answers.text import MAX_CHARS, clean, compact, normalise_answer
from dhd.answers.words import compare_words, is_abstention, is_word
from dhd.problems import Problem

__all__ = ["Comparison", "compare_answers", "compare_by_rules", "needs_library", "with_library"]

_NOT_A_NUMBER: Final = frozenset({"nan", "+nan", "-nan"})


def compare_answers(
    problem: Problem, submitted: str, *, prompt_shows_factor: bool = True
) -> Comparison:
    """Compare a submission with the reference under the problem's format and benchmark.

    Nothing is executed and own rules are bounded, but the symbolic library is not: use
    ``ComparisonPool`` for untrusted answers.

    Parameters
    ----------
    problem
        The problem; ``reference``, ``answer_format``, ``options``, ``unit`` and ``benchmark``
        are read.
    submitted
        The extracted answer.
    prompt_shows_factor
        Whether the solver saw the power of ten in the unit field (SciBench).

    Returns
    -------
    Comparison
        True, False, or None (deferred) with the reason.
    """
    comparison = compare_by_rules(problem, submitted, prompt_shows_factor=prompt_shows_factor)
    if needs_library(problem, submitted, comparison):
        return with_library(problem, submitted, comparison)
    return comparison


def compare_by_rules(
    problem: Problem, submitted: str, *, prompt_shows_factor: bool = True
) -> Comparison:
    """Compare by the written rules alone, which are bounded in time and memory."""
    reference, answer = normalise_answer(problem.reference), normalise_answer(submitted)
    if not reference:
        return deferred("empty_reference")
    if not answer:
        return deferred("empty_answer")
    if max(len(reference), len(answer)) > MAX_CHARS:
        return Comparison(True, "identical") if reference == answer else deferred("too_long")
    try:
        return _compare(problem, reference, answer, prompt_shows_factor)
    except RecursionError:
        return deferred("nested_too_deeply")


def _compare(problem: Problem, reference: str, answer: str, shows_factor: bool) -> Comparison:
    match problem.answer_format:
        case "choice":
            return compare_choice(reference, answer, problem.options)
        case "multi_choice":
            return compare_multi_choice(reference, answer, problem.options)
        case "matching":
            return compare_matching(reference, answer, problem.options)
        case "integer":
            return compare_integer(reference, answer)
        case "numeric":
            return compare_numeric(
                reference,
                answer,
                benchmark=problem.benchmark,
                unit=problem.unit,
                prompt_shows_factor=shows_factor,
            )
        case "text":
            return compare_words(reference, answer)
        case "math":
            return _compare_math(reference, answer)


def _compare_math(reference: str, answer: str) -> Comparison:
    gold, ours = clean(reference), clean(answer)
    if not gold or not ours or ours.casefold() in _NOT_A_NUMBER:
        return deferred("no_value")
    if compact(gold) == compact(ours):
        return Comparison(True, "identical")
    if (digits := _compare_digits(gold, ours)) is not None:
        return Comparison(digits, "digits")
    if is_abstention(ours):
        return deferred("abstention")
    if is_word(gold) and is_word(ours):
        return compare_words(gold, ours)
    verdict = compare_readings(read_answer(gold), read_answer(ours))
    if verdict is False and _is_decimal_comma(gold, ours):
        return deferred("decimal_comma")
    return decided(verdict, "shapes")


def _compare_digits(gold: str, ours: str) -> bool | None:
    """Compare two plain integers of any length as strings."""
    if not (gold.isascii() and ours.isascii() and gold.isdigit() and ours.isdigit()):
        return None
    return gold.lstrip("0") == ours.lstrip("0")


def _is_decimal_comma(gold: str, ours: str) -> bool:
    """Whether the answer is the reference if its comma is a decimal point (``3,5``)."""
    if ours.count(",") != 1:
        return False
    ours = ours.replace(".", "") if ours.rfind(".") < ours.rfind(",") else ours
    theirs, value = parse_quantity(gold), parse_quantity(ours.replace(",", "."))
    return theirs is not None and value is not None and theirs.value == Fraction(value.value)


def needs_library(problem: Problem, submitted: str, comparison: Comparison) -> bool:
    """Whether the symbolic library may settle what the rules deferred."""
    if problem.answer_format != "math" or comparison.reason != "shapes_undecided":
        return False
    return symbolic.is_worth_asking(
        clean(normalise_answer(problem.reference)), clean(normalise_answer(submitted))
    )


def with_library(problem: Problem, submitted: str, comparison: Comparison) -> Comparison:
    """Ask the symbolic library; its yes counts, else the deferred comparison stays."""
    gold, ours = clean(normalise_answer(problem.reference)), clean(normalise_answer(submitted))
    if symbolic.library_agrees(gold, ours):
        return Comparison(True, "math_verify")
    return comparison
