"""Check the parsers of messages and rosters against cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dhd.checks.cases import CheckResult, one_line, required
from dhd.messages import POOL_SIZE
from dhd.parsing import parse_message, parse_roster


def check_message(case: Mapping[str, Any]) -> CheckResult:
    """Parse the ``text`` of a hypothesizer or recruiter case and compare the outcome.

    ``expected.status`` is ``ok``, with ``proposed_answer`` or ``roles``, or ``invalid``, which
    stands for ``invalid_format`` and ``truncated`` alike. ``accept_invalid: true`` also takes an
    invalid outcome, ``accept_ok`` also a valid one with that proposed answer.

    Raises
    ------
    CaseError
        If the case lacks a key or has one of another type.
    """
    expected = {"id": case["id"], **required(case, "expected", dict)}
    is_roster = required(case, "agent") == "recruiter"
    accepted: list[Any] = ["invalid"]
    if not str(required(expected, "status")).startswith("invalid"):
        value = (
            required(expected, "roles", list)
            if is_roster
            else required(expected, "proposed_answer")
        )
        accepted = [value, "invalid"] if case.get("accept_invalid") is True else [value]
    if "accept_ok" in case:
        accepted.append(case["accept_ok"])
    got = _roles(case) if is_roster else _proposed_answer(case)
    return CheckResult(
        case_id=case["id"],
        passed=got in [_outcome(value) for value in accepted],
        expected=" or ".join(one_line(_outcome(value)) for value in accepted),
        got=one_line(got),
    )


def _outcome(value: Any) -> Any:
    return value if value == "invalid" else {"ok": value}


def _proposed_answer(case: Mapping[str, Any]) -> Any:
    parsed = parse_message(required(case, "text"), finish_reason=case.get("finish_reason"))
    return {"ok": parsed.fields.proposed_answer} if parsed.status == "ok" else "invalid"


def _roles(case: Mapping[str, Any]) -> Any:
    parsed = parse_roster(
        required(case, "text"),
        finish_reason=case.get("finish_reason"),
        size=case.get("n_roles_required", POOL_SIZE),
    )
    return {"ok": [role.name for role in parsed.roles]} if parsed.status == "ok" else "invalid"
