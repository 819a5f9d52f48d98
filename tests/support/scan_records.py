"""Small records built from arrays, for tests of what is computed from them.

Judgements are 1, 0 or -1 (missing), as in the analysis; every value has a default that makes
a complete, uneventful scan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from dhd.messages import FIELD_NAMES, POOL_SIZE
from dhd.records import Records
from dhd.records.schemas import (
    ANSWER_FORMATS,
    CONDITIONS,
    LOO_SIZES,
    MESSAGE_STATUSES,
    OUTCOME_STATUSES,
    STUDIES,
)


def _five() -> Any:
    return np.ones(POOL_SIZE, dtype=np.int8)


def _four_by_five() -> Any:
    return np.ones((len(LOO_SIZES), POOL_SIZE), dtype=np.int8)


@dataclass
class Scan:
    """One model's scan of one problem; see ``dhd.analysis.cells.ModelScan``."""

    independent: int = 1
    single: Any = field(default_factory=_five)
    full: Any = field(default_factory=_five)
    removal: Any = field(default_factory=_four_by_five)
    proposal: Any = field(default_factory=_five)
    rendered: Any = field(default_factory=lambda: np.ones(POOL_SIZE, dtype=bool))
    answers: tuple[str | None, ...] = ("7",) * POOL_SIZE
    confidence: tuple[str | None, ...] = (None,) * POOL_SIZE
    full_answer: str | None = "7"
    benchmark: str = "alpha"


def make_records(scans: Mapping[str, list[Scan]]) -> Records:
    """Return records with the given problems of every model; a position is one problem."""
    longest = max(scans.values(), key=len)
    uids = [f"{scan.benchmark}:{at}" for at, scan in enumerate(longest)]
    problems = pd.DataFrame(
        {
            "problem_uid": uids,
            "benchmark": [scan.benchmark for scan in longest],
            "stratum": None,
            "problem": "What is 3 + 4?",
            "reference": "7",
            "answer_format": "integer",
            "options": None,
            "license": "CC0-1.0",
            "source": "test",
            "source_sha256": "0" * 64,
        }
    )
    messages = [
        row
        for model, found in scans.items()
        for uid, scan in zip(uids, found, strict=False)
        for row in _message_rows(model, uid, scan)
    ]
    outcomes = [
        row
        for model, found in scans.items()
        for uid, scan in zip(uids, found, strict=False)
        for row in _outcome_rows(model, uid, scan)
    ]
    return Records(
        problems=_typed(problems, uids),
        messages=_typed(pd.DataFrame(messages), uids),
        outcomes=_typed(pd.DataFrame(outcomes), uids),
    )


def _message_rows(model: str, uid: str, scan: Scan) -> list[dict[str, Any]]:
    return [
        {
            "model": model,
            "problem_uid": uid,
            "message_index": at + 1,
            "role_name": "adder",
            "role_lens": "add",
            **dict.fromkeys(FIELD_NAMES, "text"),
            "confidence": scan.confidence[at],
            "proposed_answer_extracted": scan.answers[at],
            "rendered": bool(scan.rendered[at]),
            "proposal_correct": scan.proposal[at],
            "status": "ok",
        }
        for at in range(POOL_SIZE)
    ]


def _outcome_rows(model: str, uid: str, scan: Scan) -> list[dict[str, Any]]:
    cells = [("independent", 0, 0, scan.independent)]
    cells += [("single", 1, at + 1, scan.single[at]) for at in range(POOL_SIZE)]
    cells += [("full", at + 1, 0, scan.full[at]) for at in range(POOL_SIZE)]
    cells += [
        ("removal", k, at + 1, scan.removal[row][at])
        for row, k in enumerate(LOO_SIZES)
        for at in range(k)
    ]
    return [
        {
            "study": "scan",
            "model": model,
            "integrator": model,
            "problem_uid": uid,
            "condition": condition,
            "k": k,
            "message_index": index,
            "block": 0,
            "repeat": 1,
            "slot": 1,
            "answer": scan.full_answer if (condition, k) == ("full", POOL_SIZE) else "7",
            "correct": correct,
            "status": "ok" if correct >= 0 else "failed",
        }
        for condition, k, index, correct in cells
    ]


def _typed(frame: pd.DataFrame, uids: list[str]) -> pd.DataFrame:
    """Give a frame the types that ``load_records`` gives."""
    enumerations = {
        "problem_uid": uids,
        "study": STUDIES,
        "condition": CONDITIONS,
        "answer_format": ANSWER_FORMATS,
        "status": OUTCOME_STATUSES if "study" in frame else MESSAGE_STATUSES,
    }
    for name in frame.columns:
        if name in enumerations:
            kept = [v for v in enumerations[name] if name == "problem_uid" or v in set(frame[name])]
            frame[name] = pd.Categorical(frame[name], categories=pd.Index(kept, dtype="str"))
        elif name in ("model", "integrator", "benchmark"):
            frame[name] = frame[name].astype("str").astype("category")
        elif name in ("correct", "proposal_correct"):
            values = frame[name].to_numpy(np.int8)
            frame[name] = pd.arrays.IntegerArray(values, values < 0)
        elif name in ("k", "message_index", "block", "repeat", "slot"):
            frame[name] = frame[name].astype("int32")
        elif name in (*FIELD_NAMES, "proposed_answer_extracted", "answer"):
            frame[name] = frame[name].astype("str")
    return frame
