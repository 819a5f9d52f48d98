"""What the protocols' roles write is read without guessing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dhd.problems import Problem
from dhd.protocols.outputs import (
    Poll,
    Review,
    Vote,
    read_poll,
    read_review,
    read_solution,
    read_text,
    read_vote,
)
from dhd.requests import Completion

NUMBER = Problem("uid", "b", "p", "4", "integer")
CHOICE = Problem("uid", "b", "p", "B", "choice", ("one", "two"))


def said(output: Any, finish_reason: str = "stop") -> Completion:
    text = output if isinstance(output, str) or output is None else json.dumps(output)
    return Completion("key", "ok", text=text, finish_reason=finish_reason)


@pytest.mark.parametrize(
    "output",
    [
        {"thought": "t", "candidate": "4", "score": 80},
        {"thought": "t", "candidate": 4, "score": "80"},
        'Sure.\n```json\n{"thought": "t", "candidate": "4", "score": 80}\n```',
        "Thought: t\nCandidate: 4\nScore: 80/100",
        "**Thought:** t\n**Candidate:** 4\n**Score:** 80",
    ],
)
def test_polls_are_read_in_all_forms(output: Any) -> None:
    assert read_poll(NUMBER, said(output)) == Poll(80, "4", "t")


@pytest.mark.parametrize("score", [0, 101, -5, 55.5, "high", "", None, True, [8, 0], "٨٠"])
def test_scores_off_the_menu_are_refused(score: Any) -> None:
    assert read_poll(NUMBER, said({"thought": "t", "candidate": "4", "score": score})) is None


@pytest.mark.parametrize("output", [None, "", "I think so.", '{"score": 8', "[1, 2]", "{}"])
def test_what_cannot_be_read_is_none(output: Any) -> None:
    assert read_poll(NUMBER, said(output)) is None
    assert read_review(NUMBER, said(output)) is None
    assert read_vote(NUMBER, said(output)) is None
    assert read_text(said(output), "plan") is None


def test_labels_after_a_cut_are_not_trusted() -> None:
    assert read_poll(NUMBER, said("Candidate: 4\nScore: 8", "length")) is None


@pytest.mark.parametrize(
    ("route", "expected"),
    [("agree", "agree"), ("To Planner", "planner"), ("**executor**", "executor"), ("maybe", None)],
)
def test_routes_are_on_the_menu(route: str, expected: str | None) -> None:
    review = read_review(CHOICE, said({"review": "r", "route": route, "final_answer": "B"}))
    assert (None if review is None else review.route) == expected
    assert review is None or review == Review(review.route, "r", "B")


@pytest.mark.parametrize(
    ("approve", "expected"),
    [(True, True), (False, False), ("yes", True), ("No.", False), ("unsure", None), (2, None)],
)
def test_votes_say_yes_or_no(approve: Any, expected: bool | None) -> None:
    vote = read_vote(NUMBER, said({"assessment": "a", "approve": approve, "revision": "5"}))
    assert vote == (None if expected is None else Vote(expected, "5"))


def test_an_empty_revision_or_candidate_is_none() -> None:
    vote = read_vote(NUMBER, said({"assessment": "", "approve": False, "revision": " "}))
    assert vote == Vote(False, None)
    poll = read_poll(NUMBER, said({"thought": "t", "candidate": None, "score": 5}))
    assert poll == Poll(5, None, "t")


def test_plans_keep_their_lines_and_lists_are_joined() -> None:
    assert read_text(said({"plan": "1. a\n2. b"}), "plan") == "1. a\n2. b"
    assert read_text(said({"plan": ["1. a", "2. b"]}), "plan") == "1. a\n2. b"
    assert read_text(said("Plan: do it"), "plan") == "do it"


def test_solutions_have_the_answer_of_the_box() -> None:
    assert read_solution(NUMBER, said(r"So \boxed{4}.")).answer == "4"
    assert read_solution(NUMBER, said({"work": "w", "final_answer": "4"})).answer == "4"
    assert read_solution(NUMBER, said({"work": "w", "final_answer": ""})).answer is None
    assert read_solution(NUMBER, said(None)).answer is None
