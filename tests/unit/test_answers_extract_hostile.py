"""Extraction runs outside the comparison workers, so its time must be linear in the output."""

from __future__ import annotations

import time

import pytest

from dhd.answers import extract_answer
from dhd.answers.text import closing_braces, matching_brace
from dhd.problems import AnswerFormat

SEEDS = [
    *(r"\boxed{", r"\boxed{ ", r"\boxed{1}", "{", "}", "\\", "_", "$", "(", "```{", '{"', "*"),
    *("Answer: ", "Answer:\n", "the answer is ", "answer   ", "#### 1\n", "\n", " ", "<answer>"),
    *("\nQuestion: ", "final\n", "<think>", "is A ", "A, ", "A and ", "is answer  ", "."),
]
PREFIXES = ["x", r"\boxed{", "Answer: ", "answer", '{"answer": "']
FORMATS: list[AnswerFormat] = ["math", "choice", "multi_choice"]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_repeated_token_is_searched_in_little_time(seed: str) -> None:
    # Quadratic patterns took from 2 s to minutes on these.
    repeated = seed * (16_000 // len(seed))
    for prefix in PREFIXES:
        for answer_format in FORMATS:
            begin = time.thread_time()
            extract_answer(
                f"{prefix}{repeated}\n!",
                answer_format=answer_format,
                options=("1", "2", "3") if answer_format != "math" else None,
            )
            assert time.thread_time() - begin < 1


def test_the_last_answer_is_found_behind_thousands_of_others() -> None:
    text = r"\boxed{1} " * 5_000 + "\nAnswer: 2\n" * 5_000 + r"So \boxed{\frac{3}{4}}."
    assert extract_answer(text, answer_format="math") == r"\frac{3}{4}"


def test_invented_questions_are_cut_off_wherever_the_first_answer_stands() -> None:
    invented = "\nQuestion: 3+3?\nAnswer: 6"
    assert extract_answer("Answer: 45" + invented * 30, answer_format="math") == "45"
    asked = "\nQuestion: what is it?" * 30
    assert extract_answer(f"{asked}\nAnswer: 45{invented}", answer_format="math") == "45"


def test_placeholders_are_no_answers_and_long_ones_are_not_searched() -> None:
    for echo in ("", "...", r"\text{your final answer}", "_" * 40, "[LETTER]"):
        text = rf"Put it in \boxed{{{echo}}}."
        assert extract_answer(text, answer_format="math") is None, echo


@pytest.mark.parametrize(
    "text", ["{a{b}c}", "}{x}", r"\{ {\}} }", "{{{", r"\\{a\\}", r"{\frac{1}{2}} {", "{}}{}", "\\"]
)
def test_closing_braces_are_those_that_a_search_from_each_brace_finds(text: str) -> None:
    closings = closing_braces(text)
    opened = [i for i, char in enumerate(text) if char == "{" and text[i - 1 : i] != "\\"]
    if r"\\{" in text:
        opened.append(text.index(r"\\{") + 2)
    for start in opened:
        assert closings.get(start, -1) == matching_brace(text, start)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('```json\n{"answer": "5"}\n```', "5"),
        ('Draft:\n```\n{"answer": "4"}\n```\nFinal:\n```JSON\n{"answer": "5"}\n```\nDone.', "5"),
        ('```{"answer": "a ``` b"}```', "a ``` b"),
    ],
)
def test_fenced_objects(text: str, answer: str) -> None:
    assert extract_answer(text, answer_format="text") == answer
