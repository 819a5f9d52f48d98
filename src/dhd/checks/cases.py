"""Case files: one JSON object a line with an input and the outcome that is right for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from dhd.errors import DhdError


class CaseError(DhdError):
    """A case file cannot be read, or one of its lines is not a case."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one case, as it is printed.

    Attributes
    ----------
    case_id
        The case's ``id``.
    passed
        Whether the product's outcome is one of those that the case accepts.
    expected, got
        The outcomes that the case accepts and the product's own, on one line each.
    """

    case_id: str
    passed: bool
    expected: str
    got: str


Check = Callable[[Mapping[str, Any]], CheckResult]


def read_cases(path: Path) -> list[dict[str, Any]]:
    """Read a case file; blank lines are skipped.

    Raises
    ------
    CaseError
        If the file cannot be read, a line is no JSON object, or an ``id`` is missing or used
        twice; the message names file and line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CaseError(f"{path}: cannot read the case file: {error}") from error
    cases: list[dict[str, Any]] = []
    first_line: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        case = _read_line(path, number, line)
        if case["id"] in first_line:
            raise CaseError(
                f"{path}, line {number}: id {case['id']!r} is already used in line "
                f"{first_line[case['id']]}; ids must be unique"
            )
        first_line[case["id"]] = number
        cases.append(case)
    return cases


def _read_line(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        case = json.loads(line)
    except json.JSONDecodeError as error:
        raise CaseError(f"{path}, line {number}: not JSON: {error}") from error
    if not isinstance(case, dict):
        raise CaseError(f"{path}, line {number}: a case must be a JSON object, not {line[:40]!r}")
    if not isinstance(case.get("id"), str) or not case["id"]:
        raise CaseError(f"{path}, line {number}: key 'id' must be a non-empty string")
    return case


def required(case: Mapping[str, Any], key: str, kind: type | tuple[type, ...] = str) -> Any:
    """Return ``case[key]``; raise ``CaseError`` if it is missing or of another type."""
    value = case.get(key)
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        names = " or ".join(one.__name__ for one in kinds)
        raise CaseError(f"case {case.get('id')!r}: key {key!r} must be {names}, not {value!r}")
    return value


def one_line(value: object) -> str:
    """Return a value for the report: JSON, line breaks and other controls escaped."""
    return json.dumps(value, ensure_ascii=True, default=str)


def report(results: Iterable[CheckResult], stream: TextIO) -> int:
    """Print one line a result, then the summary; return the exit code (1 on a failure)."""
    passed = failed = 0
    for result in results:
        passed += result.passed
        failed += not result.passed
        verdict = "PASS" if result.passed else "FAIL"
        print(
            f"{result.case_id} {verdict} expected={result.expected} got={result.got}", file=stream
        )
    print(f"{passed} passed, {failed} failed", file=stream)
    return 1 if failed else 0
