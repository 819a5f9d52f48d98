"""The message parsers against the reference cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from dhd.checks.cases import CaseError, read_cases
from dhd.checks.messages import check_message


def test_all_cases_pass(shared_dir: Path) -> None:
    results = [check_message(case) for case in read_cases(shared_dir / "cases" / "messages.jsonl")]
    assert len(results) == 47
    assert [result for result in results if not result.passed] == []


HYPOTHESIZER = {"id": "X1", "agent": "hypothesizer", "text": '{"proposed_answer": "17"}'}
ROSTER = "\n".join(f"{number}. Role {letter}x" for number, letter in enumerate("ABCDE", 1))
NAMES = [f"Role {letter}x" for letter in "ABCDE"]


@pytest.mark.parametrize(
    ("case", "passed", "expected", "got"),
    [
        (
            HYPOTHESIZER | {"expected": {"status": "ok", "proposed_answer": "17"}},
            True,
            '{"ok": "17"}',
            '{"ok": "17"}',
        ),
        (
            HYPOTHESIZER | {"expected": {"status": "ok", "proposed_answer": "18"}},
            False,
            '{"ok": "18"}',
            '{"ok": "17"}',
        ),
        (
            HYPOTHESIZER | {"expected": {"status": "invalid", "reason": "x"}},
            False,
            '"invalid"',
            '{"ok": "17"}',
        ),
        (
            HYPOTHESIZER | {"expected": {"status": "invalid_format"}, "accept_ok": "17"},
            True,
            '"invalid" or {"ok": "17"}',
            '{"ok": "17"}',
        ),
        (
            HYPOTHESIZER
            | {
                "text": "17",
                "expected": {"status": "ok", "proposed_answer": "17"},
                "accept_invalid": True,
            },
            True,
            '{"ok": "17"} or "invalid"',
            '"invalid"',
        ),
        (
            {"id": "X2", "agent": "recruiter", "text": ROSTER}
            | {"n_roles_required": 5, "expected": {"status": "ok", "roles": NAMES}},
            True,
            '{"ok": ["Role Ax", "Role Bx", "Role Cx", "Role Dx", "Role Ex"]}',
            '{"ok": ["Role Ax", "Role Bx", "Role Cx", "Role Dx", "Role Ex"]}',
        ),
        (
            {"id": "X2", "agent": "recruiter", "text": ROSTER}
            | {"n_roles_required": 4, "expected": {"status": "ok", "roles": NAMES}},
            False,
            '{"ok": ["Role Ax", "Role Bx", "Role Cx", "Role Dx", "Role Ex"]}',
            '"invalid"',
        ),
    ],
)
def test_outcomes_are_compared(case: dict, passed: bool, expected: str, got: str) -> None:
    result = check_message(case)
    assert (result.case_id, result.passed) == (case["id"], passed)
    assert (result.expected, result.got) == (expected, got)


@pytest.mark.parametrize(
    "case",
    [
        {"id": "X", "agent": "hypothesizer", "text": "x"},
        {"id": "X", "agent": "hypothesizer", "text": None, "expected": {"status": "invalid"}},
        {"id": "X", "text": "x", "expected": {"status": "invalid"}},
        HYPOTHESIZER | {"expected": {"status": "ok"}},
    ],
)
def test_incomplete_case_is_an_error(case: dict) -> None:
    with pytest.raises(CaseError, match="X"):
        check_message(case)
