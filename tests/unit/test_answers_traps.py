"""Pairs on which a comparator is tempted to be silently wrong instead of deferring."""

import pytest

from dhd.answers import compare_answers
from dhd.answers.symbolic import is_worth_asking
from dhd.problems import AnswerFormat, Problem


def judge(reference: str, submitted: str, answer_format: AnswerFormat = "math") -> bool | None:
    problem = Problem("p", "own", "", reference, answer_format)
    return compare_answers(problem, submitted).equivalent


@pytest.mark.parametrize(
    ("reference", "submitted"),
    [
        ("x^2+C", "x^2"), ("12", r"12 \text{ or more}"), ("12", r"x \geq 12"),
        ("2n", r"2n, n \ge 1"), ("n^2", "m^2"), ("a_n = 2n", "a_k = 2k"), (r"\sqrt{x^2}", "x"),
        ("|x|", "x"), (r"\ln(x^2)", r"2\ln x"), (r"\{1,2\}", "(1,2)"), ("25", "25%"), ("5m", "5"),
        ("AB", "BA"), (r"10 \text{ km}", "10000"), ("f(x)=x+c", "f(x)=x+k"), (r"\pi", "3.14159"),
        ("e", "2.718"), (r"6.022 \times 10^{23}", "6.02e23"), ("0^0", "1"), (r"\frac{0}{0}", "0"),
        ("1/0", r"\infty"), (r"\tan 45", "1"), (r"\log x", r"\ln x"), (r"\vec{v}", "v"),
        ("a=b=c", "a=c"), ("1,2", "1.2, 2"), (r"\mathbb{Z}", r"\mathbb{R}"), ("4k+1", "4n+1"),
        (r"1 \pmod 4", "1"), ("y^2=4x", r"y=2\sqrt{x}"), ("0.5", r"1/2 \text{ or } 0.5"),
        (r"\emptyset", r"\{0\}"), ("1010_2", "10"), ("3", "3 if x > 0"),
    ],
)  # fmt: skip
def test_not_silently_right(reference: str, submitted: str) -> None:
    assert judge(reference, submitted) is not True


@pytest.mark.parametrize(
    ("reference", "submitted"),
    [
        ("x^2+C", "x^2+D"), (r"\frac{1}{3}", r"0.\overline{3}"), (r"\sqrt{x^2}", "x"),
        ("a=b", "b=a"), ("2n", r"2n \text{ for } n \ge 1"), ("2n", r"2n, n \ge 1"),
        ("0.5", r"1/2 \text{ or } 0.5"), (r"10 \text{ km}", r"10000 \text{ m}"),
        (r"10 \text{ km}", "10000"), ("(x,y)=(1,2)", "(1,2)"),
        (r"6.022 \times 10^{23}", "6.02e23"), (r"\tan 45", "1"), ("n!", r"\Gamma(n+1)"),
        (r"\frac{x^2-1}{x-1}", "x+1"), (r"\frac{x}{2}+\frac{y}{3}=1", "3x+2y=6"),
        ("xy=1", "y=1/x"), (r"n \equiv 1 \pmod 4", "n=4k+1"),
        (r"x \ne 0,1", r"\mathbb{R}\setminus\{0,1\}"), ("3<x<5", "x>3 and x<5"), ("C(5,2)", "10"),
        ("x=1, x=2", "1, 2"), ("1 000 000", "1000000"),
    ],
)  # fmt: skip
def test_not_silently_wrong(reference: str, submitted: str) -> None:
    assert judge(reference, submitted) is not False


@pytest.mark.parametrize(
    ("reference", "submitted", "outcome"),
    [
        ("1000", "1 km", None), ("5", "5 cm^3", True), ("5", "6 cm^3", False),
        ("3", "27 °C", None),
    ],
)  # fmt: skip
def test_units_of_integers(reference: str, submitted: str, outcome: bool | None) -> None:
    assert judge(reference, submitted, "integer") is outcome


@pytest.mark.parametrize(
    ("reference", "submitted"),
    [
        (r"\int_{0}^{1} x\,dx", "9^{9^{9}}"), (r"\int_{0}^{1} x\,dx", r"(10^{8})!"), ("2", "3"),
        (r"\int_{0}^{1} x\,dx", r"\forall x"),
        (r"\int_{0}^{1} x\,dx", "__import__('os')"), (r"\int_{0}^{1} x\,dx", "12345678"),
        (r"\sum_{k=1}^{3} k", r"\text{six}"),
    ],
)  # fmt: skip
def test_the_symbolic_library_is_not_shown_what_it_misreads(reference: str, submitted: str) -> None:
    assert not is_worth_asking(reference, submitted)


def test_the_symbolic_library_proves_what_the_rules_cannot_read() -> None:
    problem = Problem("p", "own", "", r"\lim_{x\to 0} \frac{\sin x}{x}", "math")
    comparison = compare_answers(problem, "1")
    assert (comparison.equivalent, comparison.reason) == (True, "math_verify")
    assert judge(r"\sum_{k=1}^{n} k", r"\frac{n(n+1)}{2}") is True
    assert judge(r"\sum_{k=1}^{n} k", r"\frac{n(n-1)}{2}") is not True
