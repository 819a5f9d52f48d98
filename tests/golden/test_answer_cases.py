"""Hard cases of answer comparison, and the references of the real benchmarks against themselves."""

import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from dhd.answers import compare_answers
from dhd.checks.answers import check_answer
from dhd.checks.cases import read_cases
from dhd.cli import main
from dhd.problems import AnswerFormat, Problem


def judge_itself(
    benchmark: str, reference: str, answer_format: AnswerFormat, unit: str | None = None
) -> bool | None:
    problem = Problem("p", benchmark, "", reference, answer_format, unit=unit)
    return compare_answers(problem, reference).equivalent


def test_every_hard_case_passes(shared_dir: Path) -> None:
    results = [check_answer(case) for case in read_cases(shared_dir / "cases" / "answers.jsonl")]
    assert len(results) == 233
    assert [result for result in results if not result.passed] == []


def test_command_reports_every_case(shared_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "answers", str(shared_dir / "cases" / "answers.jsonl")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 234
    assert lines[0].split()[:2] == ["A002", "PASS"]
    assert lines[-1] == "233 passed, 0 failed"


def test_jeebench_references_equal_themselves(shared_dir: Path) -> None:
    rows = json.loads((shared_dir / "data" / "jeebench" / "dataset.json").read_text("utf-8"))
    formats: dict[str, AnswerFormat] = {
        "MCQ": "choice",
        "MCQ(multiple)": "multi_choice",
        "Integer": "integer",
        "Numeric": "numeric",
    }
    outcomes = [judge_itself("jeebench", row["gold"], formats[row["type"]]) for row in rows]
    assert Counter(outcomes) == {True: 515}


def test_scibench_references_equal_themselves(shared_dir: Path) -> None:
    folder = shared_dir / "data" / "scibench" / "dataset" / "original"
    rows = [
        row
        for path in sorted(folder.glob("*.json"))
        if not path.name.endswith("_sol.json")
        for row in json.loads(path.read_text("utf-8"))
    ]
    outcomes = Counter(
        judge_itself("scibench", row["answer_number"], "numeric", row["unit"]) for row in rows
    )
    assert outcomes == {True: 580}


def test_scibench_references_with_their_units_are_never_wrong(shared_dir: Path) -> None:
    folder = shared_dir / "data" / "scibench" / "dataset" / "original"
    outcomes: Counter[bool | None] = Counter()
    for path in sorted(folder.glob("*.json")):
        if path.name.endswith("_sol.json"):
            continue
        for row in json.loads(path.read_text("utf-8")):
            problem = Problem(
                "p", "scibench", "", row["answer_number"], "numeric", unit=row["unit"]
            )
            unit = row["unit"].replace("$", " ").strip()
            joint = r" \times " if unit.startswith(("10^", r"\mathrm{10^")) else " "
            submitted = f"{row['answer_number'].strip()}{joint}{unit}"
            outcomes[compare_answers(problem, submitted).equivalent] += 1
    assert outcomes[False] == 0
    assert outcomes[True] >= 579, outcomes


def test_mascqa_references_equal_themselves(shared_dir: Path) -> None:
    path = shared_dir / "data" / "mascqa" / "scoresheets" / "all_questions.xlsx"
    sheet = pd.read_excel(path, dtype=str).drop_duplicates("Question Info")
    formats: dict[str, AnswerFormat] = {
        "MCQS": "choice", "MCQS-NUM": "choice", "MATCH": "matching", "NUM": "numeric",
    }  # fmt: skip
    assert len(sheet) == 649
    deferred = []
    for kind, reference in zip(sheet["Question Type"], sheet["Correct Answer"], strict=True):
        for submitted in _answers_within(kind, reference):
            problem = Problem("p", "mascqa", "", reference, formats[kind])
            outcome = compare_answers(problem, submitted).equivalent
            assert outcome is not False, (reference, submitted)
            if outcome is None:
                deferred.append(reference)
    # The only references that nothing equals are the withdrawn items.
    assert Counter(deferred) == {"MARKS TO ALL": 1, "Marks to all ": 2}


def _answers_within(kind: str, reference: str) -> list[str]:
    """Return answers that a reference stands for: the ends of its ranges, or each alternative."""
    if kind != "NUM" or reference.lower().startswith("marks"):
        return [part.strip() for part in reference.split(" OR ")]
    text = reference.replace("T0", "TO").replace("48O", "480")
    alternatives = text.upper().split(" OR ")
    return [end.strip() for one in alternatives for end in one.replace(" : ", " TO ").split(" TO ")]
