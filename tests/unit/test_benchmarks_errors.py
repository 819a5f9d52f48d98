"""Broken benchmark files: each error names file, place, what was found and what is right."""

import json
import re
from pathlib import Path

import pytest

from dhd.benchmarks import load_benchmark, problem_count
from dhd.config.benchmarks import BenchmarkSettings
from dhd.errors import BenchmarkError, ConfigError
from support import benchmark_files as files


def fails(match: str, loader: str, path: Path, **settings) -> str:
    settings = BenchmarkSettings(loader=loader, path=str(path), **settings)
    with pytest.raises(BenchmarkError, match=match) as caught:
        load_benchmark(loader, settings, path)
    message = str(caught.value)
    assert str(path.name) in message
    return message


def omni(tmp_path: Path, rows: list, name: str = "omni.jsonl") -> Path:
    return files.write_rows(tmp_path / name, rows)


def jee(tmp_path: Path, **changes) -> Path:
    rows = files.jeebench_rows()
    rows[1] = {name: value for name, value in {**rows[1], **changes}.items() if value != "drop"}
    return files.write_rows(tmp_path / "dataset.json", rows)


def user(tmp_path: Path, line: int = 1, **changes) -> Path:
    rows = files.user_rows()
    rows[line].update(changes)
    rows[line] = {name: value for name, value in rows[line].items() if value != "drop"}
    return files.write_rows(tmp_path / "own.jsonl", rows)


def test_wrong_number_of_rows(tmp_path):
    path = omni(tmp_path, files.omni_rows(rows=2800, tagged=0))
    fails("found 2800 rows, expected 4428", "omni_math_2", path)


def test_right_rows_but_wrong_tags(tmp_path):
    path = omni(tmp_path, files.omni_rows(tagged=246))
    message = fails("found 4182 problems", "omni_math_2", path)
    assert "expected 4181" in message


def test_wrong_count_lists_the_strata(tmp_path):
    message = fails("found 5 problems", "jeebench", jee(tmp_path))
    assert "MCQ 2, MCQ(multiple) 1, Integer 1, Numeric 1" in message
    assert "expected 515" in message
    assert "expected_count" in message


def test_wrong_expected_count(tmp_path):
    fails("found 5 problems .* expected 6", "jeebench", jee(tmp_path), expected_count=6)


def test_wrong_count_of_a_stratum(tmp_path):
    fails("found 1 problems .*expected 82", "jeebench", _full_jee(tmp_path), strata=["Integer"])


def _full_jee(tmp_path: Path) -> Path:
    rows = files.jeebench_rows()
    fill = [{**rows[3], "index": 100 + number} for number in range(510)]
    return files.write_rows(tmp_path / "dataset.json", rows + fill)


def test_wrong_count_of_a_lab_bench_subset(tmp_path):
    files.write_lab_bench(tmp_path, {"SeqQA": 600, "ProtocolQA": 107, "CloningScenarios": 34})
    fails(r"ProtocolQA.*: found 107 rows, expected 108", "lab_bench", tmp_path)


def test_missing_lab_bench_subset(tmp_path):
    files.write_lab_bench(tmp_path, {"SeqQA": 600})
    fails(r"found none, expected exactly one file ProtocolQA/", "lab_bench", tmp_path)


def test_lab_bench_needs_a_folder(tmp_path):
    path = files.write_rows(tmp_path / "lab.jsonl", files.lab_bench_rows("SeqQA", 2))
    fails("found a file, expected a folder", "lab_bench", path)


@pytest.mark.parametrize("field", ["question", "ideal", "distractors"])
def test_canary_inside_a_field(tmp_path, field):
    row = files.lab_bench_rows("SeqQA", 1)[0]
    text = f"see {files.CANARY}"
    row[field] = [text, "1"] if field == "distractors" else text
    files.write_rows(tmp_path / "SeqQA.jsonl", [row])
    fails("row 0: .*canary", "lab_bench", tmp_path, strata=["SeqQA"], expected_count=1)


def test_protocol_is_needed(tmp_path):
    rows = files.lab_bench_rows("ProtocolQA", 1)
    del rows[0]["protocol"]
    files.write_rows(tmp_path / "ProtocolQA.jsonl", rows)
    fails(
        "protocol: Field required", "lab_bench", tmp_path, strata=["ProtocolQA"], expected_count=1
    )


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"gold": "drop"}, "row 1: gold: Field required, found columns description, index"),
        ({"gold": " "}, "row 1: gold: .*must not be empty, found ' '"),
        ({"question": "\n"}, "row 1: question: .*must not be empty"),
        ({"gold": "AE"}, r"gold: found 'AE', expected \[A-D\]\{1,4\} for type MCQ\(multiple\)"),
        ({"type": "Essay"}, "row 1: type: Input should be 'MCQ'.*found 'Essay'"),
        ({"index": "6"}, "row 1: index: Input should be a valid integer, found '6'"),
        ({"index": 1}, "problem_uid: found jeebench:Own Exam 2020 Paper 1:1 twice"),
        ({"question": "half a pair \ud800"}, "row 1: question: .*valid Unicode"),
    ],
)
def test_broken_rows(tmp_path, changes, match):
    rows = files.jeebench_rows()
    rows[1] = {name: value for name, value in {**rows[1], **changes}.items() if value != "drop"}
    path = tmp_path / "dataset.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    fails(match, "jeebench", path, expected_count=5)


@pytest.mark.parametrize("difficulty", [None, float("nan"), "4.5", True])
def test_broken_difficulty(tmp_path, difficulty):
    rows = files.omni_rows(rows=2, tagged=0)
    rows[1]["difficulty"] = difficulty
    fails("row 1: difficulty: ", "omni_math_2", omni(tmp_path, rows), expected_count=2)


@pytest.mark.parametrize("missing", ["tags", "difficulty", "problem", "answer"])
def test_missing_parquet_column(tmp_path, missing):
    rows = files.omni_rows(rows=2, tagged=0)
    rows = [{name: value for name, value in row.items() if name != missing} for row in rows]
    path = omni(tmp_path, rows, "omni.parquet")
    fails(f"row 0: {missing}: Field required", "omni_math_2", path, expected_count=2)


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.999])
@pytest.mark.parametrize("name", ["omni.json", "omni.jsonl", "omni.parquet"])
def test_cut_omni(tmp_path, name, keep):
    path = omni(tmp_path, files.omni_rows(rows=30, tagged=0), name)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    fails(
        "empty file|not valid JSON|not a complete Parquet", "omni_math_2", path, expected_count=30
    )


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("mascqa-eval.json", "mascqa-eval.json: not valid JSON"),
        ("scoresheets/all_questions.xlsx", "all_questions.xlsx: not a complete xlsx"),
    ],
)
@pytest.mark.parametrize("keep", [0.1, 0.5, 0.99])
def test_cut_mascqa(tmp_path, name, match, keep):
    path = files.write_mascqa(tmp_path) / name
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    fails(match, "mascqa", tmp_path, expected_count=11)


def test_another_kind_of_file(tmp_path):
    path = tmp_path / "dataset.json"
    path.write_bytes(b"\xff\xd8\xff\xe0 picture")
    fails("not UTF-8 at byte 0", "jeebench", path)
    path.write_text("<html>Sign in</html>")
    fails("not valid JSON", "jeebench", path)
    path.write_text('{"rows": []}')
    fails("found dict, expected a JSON array", "jeebench", path)
    path.write_text("[" * 100_000)
    fails("not valid JSON", "jeebench", path)


def test_folders_and_missing_files(tmp_path):
    fails("no such file or folder", "jeebench", tmp_path / "nowhere")
    fails("found none, expected exactly one file dataset.json or data/", "jeebench", tmp_path)
    fails(r"found none, expected exactly one file \*.jsonl", "user", tmp_path)
    fails(r"found no file, expected \*.json", "scibench", tmp_path)
    (tmp_path / "dataset.json").mkdir()
    fails("dataset.json: found a folder, expected a file", "jeebench", tmp_path)


def test_two_candidates_are_ambiguous(tmp_path):
    omni(tmp_path, files.omni_rows(rows=1, tagged=0), "a.jsonl")
    omni(tmp_path, files.omni_rows(rows=1, tagged=0), "b.jsonl")
    fails("found a.jsonl, b.jsonl, expected exactly one", "omni_math_2", tmp_path)


def test_wrong_checksum_says_both(tmp_path):
    path = jee(tmp_path)
    pinned = {"dataset.json": "0" * 64}
    message = fails("found sha256", "jeebench", path, expected_count=5, sha256=pinned)
    assert len(re.findall(r"\b[0-9a-f]{64}\b", message)) == 2
    missing = {"data/other.json": "0" * 64}
    fails("yet its sha256 is pinned", "jeebench", tmp_path, expected_count=5, sha256=missing)


def test_mascqa_join(tmp_path):
    rows = files.MASCQA_QUESTIONS
    one = files.write_mascqa(tmp_path / "one", rows, rows[1:])
    fails("all_questions.xlsx: found no row for 1 ids: G-OWN-1-1", "mascqa", one)
    two = files.write_mascqa(tmp_path / "two", rows, [*rows, ("G-X", "NUM", "", 1)])
    fails("mascqa-eval.json: found no row for 1 ids: G-X", "mascqa", two)
    other = [(rows[0][0], "NUM", "", 5), *rows[1:]]
    three = files.write_mascqa(tmp_path / "three", rows, other)
    fails("G-OWN-1-1: Question Type: found NUM, expected MCQS", "mascqa", three)


def test_mascqa_contradicting_duplicates(tmp_path):
    rows = files.MASCQA_QUESTIONS
    sheet = files.write_mascqa(tmp_path / "a", rows, [*rows, (*rows[0][:3], "C")])
    fails("row 13: G-OWN-1-1: found .*gold='C'.* yet earlier .*gold='B'", "mascqa", sheet)
    changed = (*rows, (rows[0][0], "MCQS", "Another text?  (A) a (B) b (C) c (D) d", "B"))
    fails("G-OWN-1-1: found .*Another text", "mascqa", files.write_mascqa(tmp_path / "b", changed))


@pytest.mark.parametrize(
    ("gold", "match"),
    [(None, "Correct Answer: .*found None"), (True, "Correct Answer: .*found True")],
)
def test_mascqa_answer_cells(tmp_path, gold, match):
    rows = files.MASCQA_QUESTIONS
    broken = [(*rows[0][:3], gold), *rows[1:]]
    fails(f"row 2: {match}", "mascqa", files.write_mascqa(tmp_path, rows, broken))


def test_mascqa_missing_columns(tmp_path):
    import openpyxl

    sheet = files.write_mascqa(tmp_path) / "scoresheets" / "all_questions.xlsx"
    book = openpyxl.load_workbook(sheet)
    book.active["C1"] = "Answer"
    book.save(sheet)
    fails("row 2: Correct Answer: Field required, found columns Question Info", "mascqa", tmp_path)
    topics = json.loads((tmp_path / "mascqa-eval.json").read_text())
    topics["Heat"]["questions"].pop()
    (tmp_path / "mascqa-eval.json").write_text(json.dumps(topics))
    fails("Heat: found 5 qids, 5 qstr and 4 questions", "mascqa", tmp_path)


INTEGER: dict[str, object] = {"answer_format": "integer", "options": None}
NUMERIC = INTEGER | {"answer_format": "numeric"}


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"hint": "no"}, "own.jsonl:2: hint: Extra inputs are not permitted, found 'no'"),
        ({"reference": "drop"}, "own.jsonl:2: reference: Field required"),
        ({"problem": " "}, "own.jsonl:2: problem: .*must not be empty"),
        ({"problem_id": "sum-1"}, "own.jsonl:2: problem_id: found 'sum-1' again, first on line 1"),
        ({"problem_id": 7}, "own.jsonl:2: problem_id: Input should be a valid string, found 7"),
        ({"answer_format": "mcq"}, "own.jsonl:2: answer_format: Input should be 'math', 'choice'"),
        ({"options": ["owl"]}, "own.jsonl:2: options: .*at least 2"),
        ({"options": ["owl", ""]}, "own.jsonl:2: options.1: .*must not be empty"),
        ({"reference": "owl"}, "own.jsonl:2: .*option letters among A…B, not 'owl'"),
        ({"reference": "C"}, "own.jsonl:2: .*option letters among A…B, not 'C'"),
        ({"reference": "AB"}, "own.jsonl:2: .*option letters among A…B, not 'AB'"),
        (INTEGER | {"reference": "abc"}, "own.jsonl:2: .*must be one integer, not 'abc'"),
        (INTEGER | {"reference": "2.5"}, "own.jsonl:2: .*must be one integer, not '2.5'"),
        (INTEGER | {"reference": "2 to 5"}, "own.jsonl:2: .*must be one integer"),
        (NUMERIC | {"reference": "much"}, "own.jsonl:2: .*must be a number, a range .*'much'"),
    ],
)
def test_user_rows(tmp_path, changes, match):
    fails(match, "user", user(tmp_path, **changes))


def test_all_bad_lines_of_a_user_file_are_named_in_one_error(tmp_path):
    good = {"problem_id": "p", "problem": "x", "reference": "1", "answer_format": "integer"}
    rows = [good, good | {"answer_format": "essay"}, good, good | {"problem_id": "q", "note": 1}]
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(BenchmarkError) as caught:
        load_benchmark("own", BenchmarkSettings(loader="user", path=str(path)), path)
    head, *lines = str(caught.value).split("\n  ")
    assert head == "3 lines to mend:"
    assert [line.split(": ")[:2] for line in lines] == [
        [f"{path}:2", "answer_format"],
        [f"{path}:3", "problem_id"],
        [f"{path}:4", "note"],
    ]


def test_of_many_bad_lines_twenty_are_named(tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text("{}\n" * 23)
    with pytest.raises(BenchmarkError) as caught:
        load_benchmark("own", BenchmarkSettings(loader="user", path=str(path)), path)
    lines = str(caught.value).splitlines()
    assert lines[0] == "23 lines to mend:"
    assert lines[-2].startswith(f"  {path}:20: ")
    assert lines[-1] == "  and 3 more"


def test_user_torn_line(tmp_path):
    path = user(tmp_path)
    path.write_text(path.read_text()[:-20])
    fails("own.jsonl:3: row: Invalid JSON", "user", path)


def test_unknown_stratum_of_a_user_file(tmp_path):
    fails(
        "found no problem of plants; the file has animals",
        "user",
        user(tmp_path),
        strata=["plants"],
    )


def test_count_that_needs_a_missing_file(tmp_path):
    for loader, strata in (("user", None), ("omni_math_2", ["t9"])):
        settings = BenchmarkSettings(loader=loader, path="own", strata=strata)
        for path in (None, tmp_path / "nowhere"):
            with pytest.raises(ConfigError, match=r"benchmarks.mine: .*give expected_count"):
                problem_count("mine", settings, path)
