"""Saved submissions: the answers that messages proposed and that solvers gave in the scan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from dhd.records import Records

_KINDS = ("independent", "single", "full", "removal")


@dataclass(frozen=True, slots=True)
class AuditSubmission:
    """One saved answer that evaluators judge.

    Attributes
    ----------
    submission_id
        Which row of messages or outcomes it is; in a triplet with the triplet before it.
    model, benchmark, problem_uid, kind
        Family, problem, and where it comes from: ``proposed``, or the condition.
    submitted
        The answer.
    triplet_id
        The compound label that it belongs to, or None.
    """

    submission_id: str
    model: str
    benchmark: str
    problem_uid: str
    kind: str
    submitted: str
    triplet_id: str | None = None


def saved_submissions(records: Records) -> Iterator[AuditSubmission]:
    """Yield every saved answer of the scan, whatever its verdict."""
    benchmarks = _benchmark_of(records)
    column = "proposed_answer_extracted"
    messages = records.messages
    proposed = messages[messages[column].fillna("") != ""]
    names = ["model", "problem_uid", "message_index", column]
    for model, uid, index, answer in _rows(proposed, names):
        name = f"{model}/{uid}/proposed/i={index}"
        yield AuditSubmission(name, model, benchmarks[uid], uid, "proposed", answer)
    outcomes = records.outcomes
    in_scan = (outcomes["study"] == "scan") & outcomes["condition"].isin(_KINDS)
    given = outcomes[in_scan & (outcomes["answer"].fillna("") != "")]
    names = ["model", "problem_uid", "condition", "k", "message_index", "answer"]
    for model, uid, kind, k, index, answer in _rows(given, names):
        name = f"{model}/{uid}/{kind}/k={k}/i={index}"
        yield AuditSubmission(name, model, benchmarks[uid], uid, kind, answer)


def _benchmark_of(records: Records) -> dict[str, str]:
    problems = records.problems
    uids, benchmarks = problems["problem_uid"].astype(str), problems["benchmark"].astype(str)
    return dict(zip(uids, benchmarks, strict=True))


def _rows(frame: pd.DataFrame, names: list[str]) -> Iterator[tuple[str, ...]]:
    """Return the named columns row by row; labels as plain strings."""
    columns = (
        frame[name].astype(str) if frame[name].dtype == "category" else frame[name]
        for name in names
    )
    return zip(*columns, strict=True)
