"""The case-file runner: reading, errors that name file and line, report and exit code."""

import json
from pathlib import Path

import pytest

from dhd.checks.answers import check_answer
from dhd.checks.cases import CaseError, read_cases
from dhd.cli import main

CASE = {"id": "X1", "format": "mcq", "reference": "B", "submitted": "(B) 4", "equivalent": True,
        "options": {"B": "4", "A": "3"}}  # fmt: skip


def write(folder: Path, *lines: object) -> Path:
    path = folder / "cases.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def test_report_and_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {**CASE, "id": "X2", "equivalent": False, "accept": [False, None]}
    path = write(tmp_path, CASE, "", wrong)
    assert main(["check", "answers", str(path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "X1 PASS expected=true got=true",
        "X2 FAIL expected=false or null got=true",
        "1 passed, 1 failed",
    ]
    assert main(["check", "answers", str(write(tmp_path, CASE))]) == 0


def test_line_separators_inside_a_case_do_not_split_it(tmp_path: Path) -> None:
    path = write(
        tmp_path, json.dumps({"id": "X", "submitted": "a\u2028b\x85c"}, ensure_ascii=False)
    )
    assert read_cases(path)[0]["submitted"] == "a\u2028b\x85c"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["{"], "line 1: not JSON"),
        ([CASE, "[1]"], "line 2: a case must be a JSON object"),
        ([{"format": "mcq"}], "line 1: key 'id' must be a non-empty string"),
        ([CASE, "", CASE], "line 3: id 'X1' is already used in line 1"),
    ],
)
def test_reading_errors_name_the_line(tmp_path: Path, lines: list[object], message: str) -> None:
    with pytest.raises(CaseError, match=message):
        read_cases(write(tmp_path, *lines))


def test_a_missing_file_is_an_error_of_the_user(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "verdicts", str(tmp_path / "none.jsonl")]) == 2
    assert "cannot read the case file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "essay"}, "format must be one of"),
        ({"reference": None}, "key 'reference' must be str"),
        ({"equivalent": "yes"}, "an outcome must be true, false or null"),
        ({"options": "AB"}, "options must be an object or a list"),
        ({"stage": "half"}, "stage must be raw or final"),
        ({"submitted": 4}, "key 'submitted' must be str or NoneType"),
    ],
)
def test_faulty_cases_are_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(CaseError, match=message):
        check_answer({**CASE, **change})


def test_options_may_be_a_list_and_content_may_be_missing() -> None:
    assert check_answer({**CASE, "options": ["3", "4"]}).passed
    nothing = check_answer({**CASE, "submitted": None, "stage": "raw", "equivalent": None})
    assert (nothing.passed, nothing.got) == (True, "null")


def test_outcomes_are_told_apart_by_identity() -> None:
    assert not check_answer({**CASE, "submitted": "A", "equivalent": None}).passed
