"""Reading whole folders: every fault is found, named and counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dhd.errors import RecordsError
from dhd.records import Records, load_records, write_table
from support.scan_records import Scan, make_records

Change = Callable[[pd.DataFrame], pd.DataFrame]


def repeated_rows(study: str, uid: str) -> list[dict[str, object]]:
    cells = [("full", 0, 1), ("full", 0, 2), *(("removal", i, 1) for i in range(1, 6))]
    return [
        {
            "study": study,
            "model": "m",
            "integrator": "m",
            "problem_uid": uid,
            "condition": condition,
            "k": 5,
            "message_index": index,
            "block": 1,
            "repeat": repeat,
            "slot": slot,
            "answer": "7",
            "correct": 1,
            "status": "ok",
        }
        for slot, (condition, index, repeat) in enumerate(cells, start=1)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    records = make_records({"m": [Scan(), Scan()]})
    repeats = pd.DataFrame(repeated_rows("repeats", "alpha:0"))
    outcomes = pd.concat([records.outcomes.astype({"problem_uid": "str"}), repeats])
    write_table("problems", records.problems, tmp_path / "problems.parquet")
    write_table("messages", records.messages, tmp_path / "messages.parquet")
    write_table("outcomes", outcomes, tmp_path / "outcomes.parquet")
    return tmp_path


def change(folder: Path, name: str, how: Change) -> None:
    """Rewrite a table past all checks."""
    path = folder / f"{name}.parquet"
    table = pq.read_table(path)
    frame = how(table.to_pandas(types_mapper={pa.int8(): pd.Int8Dtype()}.get))
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path)


def assert_refused(folder: Path, *named: str) -> None:
    with pytest.raises(RecordsError) as caught:
        load_records(folder)
    for text in named:
        assert text in str(caught.value)


def test_sound_records_load(folder: Path) -> None:
    records = load_records(folder)
    assert isinstance(records, Records)
    assert (len(records.problems), len(records.messages)) == (2, 10)
    assert len(records.outcomes) == 2 * 25 + 7
    assert records.evaluations is None
    # Codes of problem_uid are rows of problems, in every table.
    for frame in (records.messages, records.outcomes):
        rows = records.problems["problem_uid"].to_numpy()[frame["problem_uid"].cat.codes]
        assert (rows == frame["problem_uid"].to_numpy()).all()


def test_reference_records_load(shared_dir: Path) -> None:
    records = load_records(shared_dir / "records_small")
    assert records.evaluations is not None
    assert records.protocol_runs is not None
    assert (len(records.outcomes), len(records.evaluations)) == (6730, 990)


def test_a_missing_folder_or_file_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(RecordsError, match="no such folder"):
        load_records(tmp_path / "nowhere")
    (folder / "messages.parquet").unlink()
    assert_refused(folder, "messages.parquet: no such file")


def put(column: str, value: object, where: str) -> Change:
    def apply(frame: pd.DataFrame) -> pd.DataFrame:
        frame.loc[frame.eval(where), column] = value
        return frame

    return apply


SINGLE = "condition == 'single' and message_index == 2"
FULL = "study == 'scan' and condition == 'full' and k == 3"
REMOVAL = "study == 'scan' and condition == 'removal' and k == 3 and message_index == 2"
REPEATED = "study == 'repeats' and condition == 'removal' and message_index == 4"


@pytest.mark.parametrize(
    ("how", "named"),
    [
        (put("correct", 2, SINGLE), "correct: neither 0, 1 nor null (2 rows, e.g. study='scan', "),
        (put("correct", 3, SINGLE), "problem_uid='alpha:0', condition='single', k=1, "),
        (put("correct", None, SINGLE), "null although status is ok"),
        (put("status", "failed", SINGLE), "not null although status is failed or unjudged"),
        (put("status", "no_answer", SINGLE), "not 0 although there is no evaluable answer"),
        (put("status", "lost", SINGLE), "'lost' is none of ok, no_answer"),
        (put("study", "scans", REPEATED), "'scans' is none of scan, repeats"),
        (put("condition", "single", REPEATED), "a condition that its study does not have"),
        (put("condition", "mean", REPEATED), "'mean' is none of independent"),
        (put("k", 2, SINGLE), "k: out of range for its condition"),
        (put("k", 0, FULL), "k: out of range for its condition"),
        (put("k", 6, FULL), "k: outside 0 to 5"),
        (put("k", 1, REMOVAL), "k: out of range for its condition"),
        (put("k", 4, REPEATED), "k: out of range for its condition"),
        (put("message_index", 3, FULL), "message_index: out of range for its condition"),
        (put("message_index", 0, SINGLE), "message_index: out of range for its condition"),
        (put("message_index", 4, REMOVAL), "message_index: out of range for its condition"),
        (put("message_index", 6, SINGLE), "message_index: outside 0 to 5"),
        (put("block", 1, SINGLE), "block: must be 0 in scan and from 1 elsewhere"),
        (put("block", 0, REPEATED), "block: must be 0 in scan and from 1 elsewhere"),
        (put("repeat", 2, SINGLE), "repeat: 2 is only for full and repeat"),
        (put("repeat", 3, SINGLE), "repeat: outside 1 to 2"),
        (put("integrator", "other", SINGLE), "integrator: differs from model"),
        (put("problem_uid", "beta:9", SINGLE), "problem_uid: not in problems.parquet (2 rows"),
        (put("model", "other", "study == 'scan' and k < 2"), "beyond the pool"),
        (put("problem_uid", None, SINGLE), "problem_uid: null where a value is needed (2 rows"),
        (
            lambda frame: frame[frame.eval("repeat == 1")],
            "an identical-input call without its pair (repeat 1 and 2) (1 row",
        ),
        (
            lambda frame: frame[~frame.eval("condition == 'full' and block == 1 and repeat == 1")],
            "an identical-input call without its pair",
        ),
        (lambda frame: pd.concat([frame, frame.iloc[[5]]]), "occurs more than once (1 row"),
        (lambda frame: frame.drop(columns="slot"), "outcomes.parquet slot: column missing"),
        (lambda frame: frame.drop(columns="model"), "outcomes.parquet model: column missing"),
        (lambda frame: frame.astype({"k": "str"}), "outcomes.parquet k: type"),
        (lambda frame: frame.assign(study=1), "study: type int64 instead of string label"),
        (lambda frame: frame.assign(model=[["m"]] * len(frame)), "model: type list<"),
        (lambda frame: frame.assign(correct=0.0), "correct: type double instead of 0/1"),
    ],
)
def test_faults_of_outcomes(folder: Path, how: Change, named: str) -> None:
    change(folder, "outcomes", how)
    assert_refused(folder, named)


@pytest.mark.parametrize(
    ("how", "named"),
    [
        (
            put("proposed_answer_extracted", None, "message_index == 2"),
            "proposal_correct: 1 for a message without an extracted answer",
        ),
        (put("status", "failed", "message_index == 2"), "rendered: true for a message with status"),
        (put("message_index", 6, "message_index == 2"), "message_index: outside 1 to 5"),
        (lambda frame: frame[frame["message_index"] < 5], "beyond the pool: messages.parquet"),
        (lambda frame: frame.astype({"rendered": "int8"}), "rendered: type int8 instead of bool"),
    ],
)
def test_faults_of_messages(folder: Path, how: Change, named: str) -> None:
    change(folder, "messages", how)
    assert_refused(folder, named)


def test_faults_of_all_tables_are_listed_together(folder: Path) -> None:
    change(folder, "problems", lambda frame: pd.concat([frame, frame]))
    change(folder, "messages", put("status", "lost", "message_index == 2"))
    change(folder, "outcomes", put("correct", 2, SINGLE))
    assert_refused(
        folder,
        "3 faults",
        "problems.parquet: key (problem_uid) occurs more than once (2 rows, e.g. problem_uid=",
        "messages.parquet status: 'lost' is none of ok",
        "outcomes.parquet correct: neither 0, 1 nor null",
    )


def test_columns_of_nulls_only_are_read_as_missing(folder: Path) -> None:
    def lose_everything(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(correct=None, answer=None, status="failed")

    change(folder, "outcomes", lose_everything)
    records = load_records(folder)
    assert str(records.outcomes["correct"].dtype) == "Int8"
    assert records.outcomes["correct"].isna().all()
    assert records.outcomes["answer"].isna().all()


def test_masking_cases_may_share_a_problem(folder: Path) -> None:
    rows = [
        {**row, "study": "masking", "message_index": target, "condition": condition, "repeat": r}
        for target in (1, 2)
        for condition, repeats in (("full", 2), ("repeat", 2), ("removal", 1), ("neutral", 1))
        for r in range(1, repeats + 1)
        for row in repeated_rows("masking", "alpha:1")[:1]
    ]
    change(folder, "outcomes", lambda frame: pd.concat([frame, pd.DataFrame(rows)]))
    assert (load_records(folder).outcomes["study"] == "masking").sum() == 12
    change(folder, "outcomes", put("message_index", 0, "condition == 'repeat'"))
    assert_refused(folder, "message_index: out of range for its condition")
