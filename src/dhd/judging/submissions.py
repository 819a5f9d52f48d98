"""Submissions: the answers to judge, each distinct one once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dhd.answers import normalise_answer
from dhd.requests import Completion


@dataclass(frozen=True, slots=True, order=True)
class Submission:
    """One answer to one problem.

    Attributes
    ----------
    problem_uid
        The problem answered.
    answer
        The normalised answer text: what is compared and what an evaluator sees.
    cell
        Empty when equal answers share one judgement, else the row that it belongs to.
    """

    problem_uid: str
    answer: str
    cell: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one submission.

    Attributes
    ----------
    correct
        None when it stays unjudged.
    judged_by
        ``rules``, or the identity of the evaluator that answered.
    reason
        The rule that decided, or why there is no verdict.
    completion
        The evaluator's call, or None when rules decided.
    """

    submission: Submission
    correct: bool | None
    judged_by: str
    reason: str | None = None
    completion: Completion | None = None


def submission_of(problem_uid: str, answer: str, cell: str, *, share: bool) -> Submission:
    """Return the submission that a row's answer belongs to."""
    return Submission(problem_uid, normalise_answer(answer), "" if share else cell)


def distinct_submissions(
    rows: Iterable[tuple[str, str, str]], *, share: bool
) -> tuple[Submission, ...]:
    """Return the distinct submissions among rows of (problem_uid, answer, cell), sorted."""
    return tuple(sorted({submission_of(*row, share=share) for row in rows}))
