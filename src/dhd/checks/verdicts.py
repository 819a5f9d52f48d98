"""Check the parser of evaluator verdicts against cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dhd.checks.cases import CheckResult, one_line, required
from dhd.parsing import parse_verdict


def check_verdict(case: Mapping[str, Any]) -> CheckResult:
    """Parse the ``text`` of an evaluator case and compare the verdict with ``expected``.

    1 is PASS, 0 is FAIL, null is no parseable verdict; ``accept`` lists all outcomes that are
    fine.

    Raises
    ------
    CaseError
        If the case lacks a key or has one of another type.
    """
    verdict = parse_verdict(required(case, "text"), finish_reason=case.get("finish_reason")).correct
    got = None if verdict is None else int(verdict)
    accepted = [case.get("expected"), *case.get("accept", ())]
    unique = list(dict.fromkeys(accepted))
    return CheckResult(
        case_id=case["id"],
        passed=got in accepted,
        expected=" or ".join(one_line(value) for value in unique),
        got=one_line(got),
    )
