"""Rules over the columns of one row, and over the calls of one block, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import union_categoricals

from dhd.messages import POOL_SIZE
from dhd.records.faults import BoolArray
from dhd.records.schemas import LOO_SIZES, STUDY_CONDITIONS


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition that every row meets.

    Attributes
    ----------
    column
        The column that a message names.
    columns
        The columns that the rule reads.
    what
        What is wrong and what would be right.
    bad
        Marks the rows that break the rule.
    shown
        Columns beside the key that identify the fault in a message.
    """

    column: str
    columns: tuple[str, ...]
    what: str
    bad: Callable[[pd.DataFrame], BoolArray]
    shown: tuple[str, ...] = ()


def _is(frame: pd.DataFrame, column: str, *values: str) -> BoolArray:
    return np.asarray(frame[column].isin(values), dtype=np.bool_)


def _judged(frame: pd.DataFrame, column: str, value: int) -> BoolArray:
    return np.asarray(frame[column].eq(value).fillna(False), dtype=np.bool_)


def _null(frame: pd.DataFrame, column: str) -> BoolArray:
    return np.asarray(frame[column].isna(), dtype=np.bool_)


def _integers(frame: pd.DataFrame, column: str) -> npt.NDArray[np.int64]:
    return np.asarray(frame[column], dtype=np.int64)


def _ok_unjudged(frame: pd.DataFrame) -> BoolArray:
    return _is(frame, "status", "ok") & _null(frame, "correct")


def _answerless_not_wrong(frame: pd.DataFrame) -> BoolArray:
    return _is(frame, "status", "no_answer", "truncated") & ~_judged(frame, "correct", 0)


def _failed_judged(frame: pd.DataFrame) -> BoolArray:
    return _is(frame, "status", "failed", "unjudged") & ~_null(frame, "correct")


def _foreign_condition(frame: pd.DataFrame) -> BoolArray:
    bad = np.zeros(len(frame), dtype=np.bool_)
    for study, conditions in STUDY_CONDITIONS.items():
        bad |= _is(frame, "study", study) & ~_is(frame, "condition", *conditions)
    return bad


def _wrong_k(frame: pd.DataFrame) -> BoolArray:
    k = _integers(frame, "k")
    scan = _is(frame, "study", "scan")
    bad: BoolArray = ~scan & (k != POOL_SIZE)
    bad |= scan & _is(frame, "condition", "independent") & (k != 0)
    bad |= scan & _is(frame, "condition", "single") & (k != 1)
    bad |= scan & _is(frame, "condition", "full") & (k < 1)
    bad |= scan & _is(frame, "condition", "removal") & (k < LOO_SIZES[0])
    return bad


def _wrong_message_index(frame: pd.DataFrame) -> BoolArray:
    index, k = _integers(frame, "message_index"), _integers(frame, "k")
    masking = _is(frame, "study", "masking")
    untargeted = _is(frame, "condition", "independent", "full") & ~masking
    removal = _is(frame, "condition", "removal")
    bad: BoolArray = untargeted & (index != 0)
    bad |= ~untargeted & (index == 0)
    bad |= removal & (index > k)
    return bad


def _wrong_block(frame: pd.DataFrame) -> BoolArray:
    bad: BoolArray = _is(frame, "study", "scan") != (_integers(frame, "block") == 0)
    return bad


def _wrong_repeat(frame: pd.DataFrame) -> BoolArray:
    paired = _is(frame, "condition", "full", "repeat") & ~_is(frame, "study", "scan")
    bad: BoolArray = ~paired & (_integers(frame, "repeat") != 1)
    return bad


def _wrong_integrator(frame: pd.DataFrame) -> BoolArray:
    codes = np.asarray(union_categoricals([frame["model"], frame["integrator"]]).codes)
    model, integrator = np.split(codes, 2)
    bad: BoolArray = (model != integrator) & ~_is(frame, "study", "integrator_swap")
    return bad


def _answerless_correct(frame: pd.DataFrame) -> BoolArray:
    column = "proposed_answer_extracted"
    absent = _null(frame, column) | _is(frame, column, "")
    return absent & _judged(frame, "proposal_correct", 1)


def _failed_rendered(frame: pd.DataFrame) -> BoolArray:
    return _is(frame, "status", "failed") & np.asarray(frame["rendered"], dtype=np.bool_)


_STATUS = ("status",)
_CELL = ("k", "message_index")

#: The rules of every table that has some.
RULES: Final[Mapping[str, tuple[Rule, ...]]] = MappingProxyType(
    {
        "messages": (
            Rule(
                "proposal_correct",
                ("proposal_correct", "proposed_answer_extracted"),
                "1 for a message without an extracted answer (0, or null when not judged)",
                _answerless_correct,
            ),
            Rule(
                "rendered",
                ("rendered", "status"),
                "true for a message with status failed",
                _failed_rendered,
                _STATUS,
            ),
        ),
        "outcomes": (
            Rule(
                "correct",
                ("status", "correct"),
                "null although status is ok (0 or 1)",
                _ok_unjudged,
                _STATUS,
            ),
            Rule(
                "correct",
                ("status", "correct"),
                "not 0 although there is no evaluable answer (status no_answer or truncated)",
                _answerless_not_wrong,
                ("status", "correct"),
            ),
            Rule(
                "correct",
                ("status", "correct"),
                "not null although status is failed or unjudged",
                _failed_judged,
                ("status", "correct"),
            ),
            Rule(
                "condition",
                ("study", "condition"),
                "a condition that its study does not have",
                _foreign_condition,
            ),
            Rule(
                "k",
                ("study", "condition", "k"),
                "out of range for its condition (independent 0, single 1, full 1 to 5, "
                "removal 2 to 5; always 5 in the repeated studies)",
                _wrong_k,
            ),
            Rule(
                "message_index",
                ("study", "condition", *_CELL),
                "out of range for its condition (0 where no message is targeted, "
                "at most k for a removal)",
                _wrong_message_index,
            ),
            Rule(
                "block", ("study", "block"), "must be 0 in scan and from 1 elsewhere", _wrong_block
            ),
            Rule(
                "repeat",
                ("study", "condition", "repeat"),
                "2 is only for full and repeat in the repeated studies",
                _wrong_repeat,
            ),
            Rule(
                "integrator",
                ("study", "model", "integrator"),
                "differs from model outside integrator_swap",
                _wrong_integrator,
            ),
        ),
    }
)
