"""Properties of the answer judge, against exact arithmetic as the oracle."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from dhd.answers import compare_answers, extract_answer, normalise_answer
from dhd.problems import Problem

Rendered = tuple[str, Fraction]

FRACTIONS = (r"\frac{%d}{%d}", r"\dfrac{%d}{%d}", "(%d/%d)", r"\left(\frac{%d}{%d}\right)")


def judge(reference: str, submitted: str, answer_format: str = "math") -> bool | None:
    problem = Problem("p", "own", "", reference, answer_format)  # type: ignore[arg-type]
    return compare_answers(problem, submitted).equivalent


def leaf() -> st.SearchStrategy[Rendered]:
    whole = st.integers(0, 30).map(lambda n: (str(n), Fraction(n)))
    decimal = st.integers(0, 999).map(lambda n: (f"{n / 100:.2f}", Fraction(n, 100)))
    fraction = st.tuples(st.integers(0, 20), st.integers(1, 20), st.sampled_from(FRACTIONS)).map(
        lambda t: (t[2] % (t[0], t[1]), Fraction(t[0], t[1]))
    )
    return whole | decimal | fraction


def grow(inner: st.SearchStrategy[Rendered]) -> st.SearchStrategy[Rendered]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        pairs.map(lambda p: (f"({p[0][0]}+{p[1][0]})", p[0][1] + p[1][1])),
        pairs.map(lambda p: (f"({p[0][0]} - {p[1][0]})", p[0][1] - p[1][1])),
        pairs.map(lambda p: (rf"({p[0][0]})\cdot ({p[1][0]})", p[0][1] * p[1][1])),
        pairs.map(lambda p: (rf"({p[0][0]})({p[1][0]})", p[0][1] * p[1][1])),
        st.tuples(inner, st.integers(1, 4)).map(
            lambda p: (f"({p[0][0]})^{{{p[1]}}}", p[0][1] ** p[1])
        ),
        inner.map(lambda p: (f"(-{p[0]})", -p[1])),
    )  # fmt: skip


EXPRESSIONS = st.recursive(leaf(), grow, max_leaves=6)


@settings(max_examples=150, deadline=None)
@given(EXPRESSIONS, EXPRESSIONS)
def test_rational_expressions_are_equal_exactly_when_their_values_are(
    left: Rendered, right: Rendered
) -> None:
    outcome = judge(left[0], right[0])
    if left[1] == right[1]:
        assert outcome is True
    else:
        assert outcome is not True
        value = f"{right[1].numerator}/{right[1].denominator}"
        assert judge(value, left[0]) is not True


@settings(max_examples=100, deadline=None)
@given(EXPRESSIONS)
def test_an_expression_equals_its_value_and_no_neighbour(expression: Rendered) -> None:
    text, value = expression
    assert judge(rf"\frac{{{value.numerator}}}{{{value.denominator}}}", text) is True
    assert judge(text, f"{value.numerator}/{value.denominator}") is True
    assert judge(text, f"{value.numerator + value.denominator}/{value.denominator}") is False


@settings(max_examples=100, deadline=None)
@given(st.integers(-(10**12), 10**12), st.integers(-(10**12), 10**12))
def test_integers_are_equal_exactly_when_they_are(reference: int, submitted: int) -> None:
    for text in (str(submitted), f"{submitted:,}", f"{submitted:,}".replace(",", "{,}")):
        assert judge(str(reference), text, "integer") is (reference == submitted)
        assert judge(str(submitted), text, "integer") is True


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60), st.sampled_from(["math", "integer", "numeric", "text"]))
def test_any_text_is_compared_without_an_error_and_its_key_is_stable(
    text: str, answer_format: str
) -> None:
    judge("12", text, answer_format)
    judge(text, "12", answer_format)
    key = normalise_answer(text)
    assert normalise_answer(key) == key
    assert judge("12", text, answer_format) is judge("12", key, answer_format)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["\\boxed{", "}", "{", "Answer:", "\n", "<think>", "</think>", "A", "B", "12", " ", '"',
             '{"final_answer": ', "<|channel|>final<|message|>", "####", "$", "\\frac{1}{2}", "**",
             "。"]
        ),
        max_size=14,
    ).map("".join),
    st.sampled_from(["math", "choice", "multi_choice", "matching", "integer", "numeric", "text"]),
    st.sampled_from([None, "stop", "length"]),
)  # fmt: skip
def test_any_output_gives_an_answer_or_none(
    text: str, answer_format: str, finish_reason: str | None
) -> None:
    answer = extract_answer(
        text,
        answer_format=answer_format,
        options=("x", "y"),
        finish_reason=finish_reason,  # type: ignore[arg-type]
    )
    assert answer is None or (answer.strip() and "<think>" not in answer)
