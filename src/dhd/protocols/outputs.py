"""Reading what the protocols' own roles write: plans, reviews, polls, votes and texts.

Like all parsers here: a JSON object with the asked keys, or lines with these labels. What
cannot be read without guessing is None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from dhd.answers import extract_answer
from dhd.parsing.labels import labelled_sections, normalise_key
from dhd.parsing.lenient_json import JsonValue, scan_encoded
from dhd.parsing.reasoning import NoFinalTextError, readable_final_text
from dhd.problems import Problem
from dhd.requests import Completion

Route = Literal["agree", "planner", "executor"]

_ROUTES: Final[Mapping[str, Route]] = {
    "agree": "agree",
    "planner": "planner",
    "to planner": "planner",
    "executor": "executor",
    "to executor": "executor",
}
_YES: Final = frozenset({"true", "yes", "approve", "1"})
_NO: Final = frozenset({"false", "no", "reject", "0"})
_HIGHEST_SCORE: Final = 100


@dataclass(frozen=True, slots=True)
class Solution:
    """A worked answer: the final text, and the answer in it or None."""

    text: str
    answer: str | None


@dataclass(frozen=True, slots=True)
class Review:
    """A reviewer's finding, where the work goes, and the answer that it would submit."""

    route: Route
    text: str
    answer: str | None


@dataclass(frozen=True, slots=True)
class Poll:
    """A peer's bid for the floor: reasoning, candidate or None, and a score from 1 to 100."""

    score: int
    candidate: str | None
    thought: str


@dataclass(frozen=True, slots=True)
class Vote:
    """A peer's position on a candidate, and what should replace it, or None."""

    approves: bool
    revision: str | None


def read_solution(problem: Problem, completion: Completion) -> Solution:
    """Return a worked answer; a text without one is a solution without an answer."""
    text = completion.text or ""
    answer = None
    if text:
        answer = extract_answer(
            text,
            answer_format=problem.answer_format,
            options=problem.options,
            finish_reason=completion.finish_reason,
        )
    return Solution(text, answer)


def read_text(completion: Completion, name: str) -> str | None:
    """Return the text that an output gives under ``name``, or None."""
    return _fields(completion, name).get(name) or None


def text_reader(name: str) -> Callable[[Completion], str | None]:
    """Return the parser of outputs that give one text under ``name``."""
    return partial(read_text, name=name)


def read_review(problem: Problem, completion: Completion) -> Review | None:
    """Return a review, None without a route that is on the menu."""
    fields = _fields(completion, "review", "route", "final_answer")
    route = _ROUTES.get(fields.get("route", "").casefold().strip("*`'\". "))
    if route is None:
        return None
    return Review(route, fields.get("review", ""), _answer(problem, fields.get("final_answer")))


def read_poll(problem: Problem, completion: Completion) -> Poll | None:
    """Return a bid, None without a whole number from 1 to 100 as its score."""
    fields = _fields(completion, "thought", "candidate", "score")
    score = fields.get("score", "").removesuffix("/100").strip("*` ")
    if not (score.isascii() and score.isdigit() and len(score) <= 3):
        return None
    if not 1 <= int(score) <= _HIGHEST_SCORE:
        return None
    return Poll(int(score), _answer(problem, fields.get("candidate")), fields.get("thought", ""))


def read_vote(problem: Problem, completion: Completion) -> Vote | None:
    """Return a vote, None when it says neither yes nor no."""
    fields = _fields(completion, "assessment", "approve", "revision")
    approve = fields.get("approve", "").casefold().strip("*`'\". ")
    if approve not in _YES | _NO:
        return None
    return Vote(approve in _YES, _answer(problem, fields.get("revision")))


def _answer(problem: Problem, text: str | None) -> str | None:
    """Return an answer field as it is submitted; see the proposed answer of a message."""
    if text is None:
        return None
    marked = extract_answer(text, answer_format=problem.answer_format, options=problem.options)
    return marked or text.strip() or None


def _fields(completion: Completion, *names: str) -> dict[str, str]:
    """Return the named fields of an output that are there."""
    try:
        final = readable_final_text(completion.text)
    except NoFinalTextError:
        return {}
    scan = scan_encoded(final)
    objects = [value for value in scan.values if isinstance(value, dict)]
    for document in reversed(objects):
        found = _named(document, names)
        if found:
            return found
    if objects or scan.unclosed or scan.refused or completion.finish_reason == "length":
        return {}
    return {label: text.strip() for label, text in labelled_sections(final, names.__contains__)}


def _named(document: Mapping[str, JsonValue], names: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in document.items():
        name = normalise_key(key)
        if name not in names:
            continue
        if isinstance(value, bool):
            found[name] = str(value).lower()
        elif isinstance(value, str):
            found[name] = value.strip()
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            found[name] = "\n".join(str(item) for item in value)
    return found
