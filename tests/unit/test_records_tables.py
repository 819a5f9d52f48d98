"""Writing and reading single tables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dhd.errors import RecordsError
from dhd.records import TABLES, read_table, write_table
from dhd.records.schemas import Kind
from dhd.records.tables import arrow_type

RUN: dict[str, Any] = {
    "protocol": "direct",
    "model": "oss",
    "problem_uid": "demo:1",
    "answer": "7",
    "correct": 1,
    "prompt_tokens": 10,
    "completion_tokens": 20,
    "calls": 1,
}


def runs(**changes: Any) -> list[dict[str, Any]]:
    return [RUN, {**RUN, "problem_uid": "demo:2", **changes}]


def test_rows_come_back_as_written_in_their_types(tmp_path: Path) -> None:
    path = tmp_path / "new" / "protocol_runs.parquet"
    write_table("protocol_runs", runs(answer=None, correct=None), path)
    frame = read_table("protocol_runs", path)
    assert frame["problem_uid"].tolist() == ["demo:1", "demo:2"]
    assert frame["correct"].tolist() == [1, pd.NA]
    assert frame["answer"].isna().tolist() == [False, True]
    kinds = {name: str(kind) for name, kind in frame.dtypes.items()}
    assert (kinds["protocol"], kinds["correct"]) == ("category", "Int8")
    assert (kinds["prompt_tokens"], kinds["calls"]) == ("int64", "int32")


def test_files_hold_the_declared_types(tmp_path: Path) -> None:
    path = tmp_path / "protocol_runs.parquet"
    # Pandas makes floats of integers with gaps; the file must not.
    frame = pd.DataFrame(runs(correct=np.nan))
    assert frame["correct"].dtype == np.float64
    write_table("protocol_runs", frame, path)
    schema = pq.read_schema(path)
    for column in TABLES["protocol_runs"].columns:
        assert schema.field(column.name).type == arrow_type(column)
    assert schema.metadata is None


def test_further_columns_are_kept_after_the_declared_ones(tmp_path: Path) -> None:
    path = tmp_path / "protocol_runs.parquet"
    write_table("protocol_runs", [{"request_key": "ab", **RUN}, {**RUN, "model": "gemma"}], path)
    frame = read_table("protocol_runs", path)
    assert list(frame.columns) == [*RUN, "request_key"]
    assert frame["request_key"].isna().tolist() == [False, True]


def test_equal_rows_give_equal_bytes_from_rows_or_frames(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.parquet" for name in "abc"]
    write_table("protocol_runs", runs(), paths[0])
    write_table("protocol_runs", pd.DataFrame(runs()), paths[1])
    write_table("protocol_runs", read_table("protocol_runs", paths[0]), paths[2])
    assert len({path.read_bytes() for path in paths}) == 1


def test_an_empty_table_keeps_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "protocol_runs.parquet"
    write_table("protocol_runs", pd.DataFrame(runs()).iloc[:0], path)
    frame = read_table("protocol_runs", path)
    assert list(frame.columns) == list(RUN)
    assert frame.empty


def test_optional_columns_may_be_there_or_not(tmp_path: Path) -> None:
    path = tmp_path / "problems.parquet"
    row = {
        "problem_uid": "demo:1",
        "benchmark": "demo",
        "stratum": None,
        "problem": "3 + 4?",
        "reference": "7",
        "answer_format": "choice",
        "options": ["6", "7"],
        "license": "CC0-1.0",
        "source": "test",
        "source_sha256": "0" * 64,
    }
    write_table("problems", [row], path)
    assert "unit" not in read_table("problems", path)
    write_table("problems", [{**row, "unit": "10^3 m"}], path)
    frame = read_table("problems", path)
    assert frame["unit"].tolist() == ["10^3 m"]
    assert list(frame["options"][0]) == ["6", "7"]


def test_a_failing_write_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "protocol_runs.parquet"
    write_table("protocol_runs", runs(), path)
    before = path.read_bytes()

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        write_table("protocol_runs", [RUN], path)
    with pytest.raises(RecordsError):
        write_table("protocol_runs", runs(correct=2), path)
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"correct": 2}, "correct: neither 0, 1 nor null (1 row, e.g. protocol='direct'"),
        ({"correct": 300}, "correct"),
        ({"correct": 0.5}, "correct"),
        ({"calls": -1}, "calls: outside 0 or more"),
        ({"calls": None}, "calls: null where a value is needed"),
        ({"calls": "3"}, "calls"),
        ({"protocol": "debate"}, "'debate' is none of direct, iterative, per, broadcast"),
        ({"model": ""}, "model: empty string"),
        ({"problem_uid": "demo:1"}, "key (protocol, model, problem_uid) occurs more than once"),
        ({"answer": 7}, "answer"),
    ],
)
def test_rows_that_break_the_contract_are_refused(
    tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    path = tmp_path / "protocol_runs.parquet"
    with pytest.raises(RecordsError) as caught:
        write_table("protocol_runs", runs(**change), path)
    assert named in str(caught.value)
    assert not path.exists()


@pytest.mark.parametrize("kept", [0, 3, 200, -1])
def test_a_cut_file_is_refused(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "protocol_runs.parquet"
    write_table("protocol_runs", runs(), path)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(RecordsError, match="not a complete Parquet file"):
        read_table("protocol_runs", path)


def test_a_flipped_bit_is_an_error_and_never_other_data(tmp_path: Path) -> None:
    path = tmp_path / "protocol_runs.parquet"
    rows = [{**RUN, "problem_uid": f"demo:{at}", "calls": at % 7} for at in range(500)]
    write_table("protocol_runs", rows, path)
    whole, before = path.read_bytes(), read_table("protocol_runs", path)
    data = pq.read_metadata(path).row_group(0).column(7)
    start = data.dictionary_page_offset
    for offset in range(start, start + data.total_compressed_size, 5):
        path.write_bytes(whole[:offset] + bytes([whole[offset] ^ 1]) + whole[offset + 1 :])
        try:
            assert read_table("protocol_runs", path).equals(before)
        except RecordsError:
            continue


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordsError, match="no such file"):
        read_table("outcomes", tmp_path / "outcomes.parquet")


def test_all_faults_of_a_file_are_listed_at_once(tmp_path: Path) -> None:
    path = tmp_path / "protocol_runs.parquet"
    frame = pd.DataFrame(runs(correct=3)).drop(columns="answer").astype({"calls": "float64"})
    pq.write_table(pa.Table.from_pandas(frame), path)
    with pytest.raises(RecordsError) as caught:
        read_table("protocol_runs", path)
    text = str(caught.value)
    assert "3 faults" in text
    assert "answer: column missing" in text
    assert "calls: type double instead of integer" in text
    assert "correct: neither 0, 1 nor null" in text


def test_hostile_text_is_shortened_and_escaped_in_messages(tmp_path: Path) -> None:
    hostile = "\x1b[31m\n" + "x" * 5000
    with pytest.raises(RecordsError) as caught:
        write_table("protocol_runs", runs(problem_uid=hostile, calls=-1), tmp_path / "a.parquet")
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_every_kind_of_column_has_a_type() -> None:
    kinds = {column.kind for table in TABLES.values() for column in table.columns}
    assert kinds == set(Kind)
