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
        ("B", "choice", "Have a look at option (b)."),
        ("B", "choice", "[b] is worth a thought"),
        ("B", "choice", "The right choice is b."),
        ("A, C", "multi_choice", "options a and c hold"),
        ("A, C", "multi_choice", "The answer: ac."),
        ("2.5e-4", "numeric", r"It is $2.5 \times 10^{-4}$."),
        ("0.00025", "numeric", "about 2.5 x 10^-4 in size"),
        ("0.00025", "numeric", "2.5·10⁻⁴"),
        ("12500", "numeric", "The total is 12 500."),
        ("12500", "integer", r"The total is $12\,500$."),
        ("12500", "integer", "It is 12.5 thousand."),
        ("-12500", "numeric", "Its size is 12500."),
        (r"\frac{3}{4}", "math", r"Try $\tfrac34$ again."),
        (r"\frac{3}{4}", "math", "It is 75 %."),
        (r"2\sqrt{3}", "math", "Is it 2√3?"),
        (r"2\sqrt{3}", "math", "Twice the root? 2 root 3!"),
        (r"2\sqrt{3}", "math", "It is near 3.46."),
        ("3.1416", "numeric", "Use 3.14."),
        ("42 TO 43", "numeric", "I find 42.5 here."),
        ("6.00 : 7.30", "numeric", "It is 7 or so."),
        ("0.25", "numeric", "A share of 25 % remains."),
        ("0.25", "numeric", "A share of 25 percent remains."),
        ("0.5", "numeric", "Only a half remains."),
        ("5", "integer", "There are five of them."),
        ("5", "math", "There are five of them."),
        ("1", "integer", "There is exactly one root."),
        ("12", "numeric", "Twelve is what comes out."),
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
        ("B", "choice", "One of the options that you left out fits; read answer choices again."),
        ("B", "choice", "The answers are alike at first sight (see the unit)."),
        ("A, C", "multi_choice", "You named too few options by one."),
        ("2.5e-4", "numeric", "The exponent of ten is off by 3."),
        ("12500", "numeric", "You lost a factor of 10, or 100; about 20 % is missing too."),
        (r"\frac{3}{4}", "math", "There are 2 terms; 1 is missing."),
        (r"2\sqrt{3}", "math", "A root can be simplified; there are 2 or 3 steps."),
        ("3.1416", "numeric", "Give at least five significant digits, not 2."),
        ("42 TO 43", "numeric", "Off by a factor of 2, so check step 3."),
        ("6.00 : 7.30", "numeric", "You are low by about 20 % or one unit."),
        ("0.25", "numeric", "Your value is 2 times too large, in one of the two steps."),
        ("17", "integer", "Two cases are left out, and one is counted twice."),
        ("1", "integer", "This one counts a case twice; one of the terms is left out."),
    ],
)
def test_harmless_hints_pass(reference: str, answer_format: AnswerFormat, hint: str) -> None:
    options = OPTIONS if "choice" in answer_format else None
    assert not reveals_reference(hint, problem_of(reference, answer_format, options=options))


def test_a_number_within_the_benchmarks_tolerance_is_a_leak() -> None:
    problem = Problem("uid", "scibench", "problem", "0.3287", "numeric", unit="eV")
    assert reveals_reference("It is roughly 0.33.", problem)
    assert not reveals_reference("It is not 0.36; see the factor of 2.", problem)


def test_the_reference_in_another_unit_is_a_leak() -> None:
    problem = Problem("uid", "mascqa", "problem", "3", "numeric", unit="m")
    assert reveals_reference("It is 300 cm.", problem)
    assert not reveals_reference("It is not 30 cm; there are 5 % too many.", problem)


def test_alternatives_that_rules_do_not_take_are_leaks() -> None:
    assert reveals_reference("It is 6.", problem_of("5 or 6", "integer"))


@pytest.mark.parametrize("hint", ["no number " * 3000, " ".join(map(str, range(100, 200)))])
def test_a_hint_too_long_to_be_read_is_refused(hint: str) -> None:
    assert reveals_reference(hint, problem_of("5", "integer"))


@pytest.mark.parametrize("hint", ["It is 7.42.", r"It is $7.4 \times 10^{14}$."])
def test_both_readings_of_a_unit_with_a_power_of_ten_are_leaks(hint: str) -> None:
    problem = Problem("uid", "scibench", "problem", "7.42", "numeric", unit="$10^{14}$ Hz")
    assert reveals_reference(hint, problem)
    assert not reveals_reference("The exponent is off by 2; mind the factor.", problem)


def test_the_value_of_a_right_option_is_a_leak() -> None:
    problem = problem_of("B", "choice", options=("10 kg", r"$\frac{1}{4}$", "30 kg"))
    assert reveals_reference("It is 0.25.", problem)
    assert not reveals_reference("It is less than 10 kg.", problem)


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
