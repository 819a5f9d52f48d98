"""Hints that give the reference away are refused; harmless ones pass."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhd.problems import AnswerFormat, Problem
from dhd.protocols.leaks import NEUTRAL_HINT, NO_ANSWER_HINT, reveals_reference


def problem_of(reference: str, answer_format: AnswerFormat = "math", **more: Any) -> Problem:
    return Problem("uid", "benchmark", "problem", reference, answer_format, **more)


OPTIONS = ("the nucleus", "a mitochondrion", "the cell wall", "none of them")


@pytest.mark.parametrize(
    ("reference", "answer_format", "hint"),
    [
        ("x^2+1", "math", "It should read $x^2 + 1$ in the end."),
        (r"\frac{3}{4}", "math", "Think of 3/4 of it."),
        (r"\frac{3}{4}", "math", "It is 0.75."),
        ("-2", "integer", "The value is −2, not 2."),
        ("12500", "numeric", "About 12,500 in all."),
        ("2.5e-4", "numeric", "The size is 0.00025."),
        ("42 TO 43", "numeric", "It is at least 42."),
        ("Iron", "text", "Is it not IRON?"),
        ("face-centred cubic", "text", "It is a face centred cubic lattice."),
        ("B", "choice", "Option B fits better."),
        ("B", "choice", "Remember what a mitochondrion does."),
        ("A, C", "multi_choice", "You left out C."),
        ("A, C", "multi_choice", "The pair AC is what you want."),
        ("AC", "multi_choice", "Both A and C hold."),
        ("7", "integer", "It is ⁷ steps"),
    ],
)
def test_leaks_are_found(reference: str, answer_format: AnswerFormat, hint: str) -> None:
    options = OPTIONS if "choice" in answer_format else None
    assert reveals_reference(hint, problem_of(reference, answer_format, options=options))


@pytest.mark.parametrize(
    ("reference", "answer_format", "hint"),
    [
        ("x^2+1", "math", "The sign of the last term looks wrong."),
        (r"\frac{3}{4}", "math", "You may have inverted a ratio."),
        ("-2", "integer", "The sign is wrong."),
        ("12500", "numeric", "Too small by about 3 orders of magnitude."),
        ("Iron", "text", "The environment matters less than the ironing suggests."),
        ("B", "choice", "Compare the options again; yours ignores the second condition."),
        ("A, C", "multi_choice", "One more option holds."),
        ("3x+12", "math", "There is 1 term too many."),
    ],
)
def test_harmless_hints_pass(reference: str, answer_format: AnswerFormat, hint: str) -> None:
    options = OPTIONS if "choice" in answer_format else None
    assert not reveals_reference(hint, problem_of(reference, answer_format, options=options))


@pytest.mark.parametrize("hint", [NEUTRAL_HINT, NO_ANSWER_HINT])
def test_the_fixed_hints_name_no_number_and_no_option(hint: str) -> None:
    for letter in "BCDEFGH":
        assert not reveals_reference(hint, problem_of(letter, "choice"))
    for number in range(10):
        assert not reveals_reference(hint, problem_of(str(number), "integer"))


@given(st.text(max_size=30), st.text(min_size=1, max_size=12), st.text(max_size=30))
def test_a_reference_among_spaces_is_always_found(before: str, reference: str, after: str) -> None:
    from dhd.answers import normalise_answer

    if normalise_answer(reference).strip(" \\$") and reference.isalnum() and reference.isascii():
        hint = f"{before} {reference} {after}"
        if reference in normalise_answer(hint):
            assert reveals_reference(hint, problem_of(reference, "text"))
