"""The verdict parser against the reference cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from dhd.checks.cases import CaseError, read_cases
from dhd.checks.verdicts import check_verdict


def test_all_cases_pass(shared_dir: Path) -> None:
    results = [check_verdict(case) for case in read_cases(shared_dir / "cases" / "verdicts.jsonl")]
    assert len(results) == 51
    assert [result for result in results if not result.passed] == []


@pytest.mark.parametrize(
    ("changes", "passed", "expected", "got"),
    [
        ({"text": "PASS", "expected": 1}, True, "1", "1"),
        ({"text": "PASS", "expected": 0}, False, "0", "1"),
        ({"text": "PASS", "expected": None}, False, "null", "1"),
        ({"text": "?", "expected": None}, True, "null", "null"),
        ({"text": "?", "expected": 0}, False, "0", "null"),
        ({"text": "FAIL", "expected": None, "accept": [None, 0]}, True, "null or 0", "0"),
        ({"text": "PASS", "expected": 1, "finish_reason": "length"}, False, "1", "null"),
    ],
)
def test_outcomes_are_compared(changes: dict, passed: bool, expected: str, got: str) -> None:
    result = check_verdict({"id": "X1", **changes})
    assert (result.case_id, result.passed) == ("X1", passed)
    assert (result.expected, result.got) == (expected, got)


def test_case_without_text_is_an_error() -> None:
    with pytest.raises(CaseError, match="X1"):
        check_verdict({"id": "X1", "expected": 1})
