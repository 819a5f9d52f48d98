"""Cases of answer comparison: extraction and the rule-based comparator, without an evaluator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from dhd.answers import Comparison, compare_answers, extract_answer
from dhd.checks.cases import CaseError, CheckResult, one_line, required
from dhd.problems import ANSWER_FORMATS, AnswerFormat, Problem

_FORMAT_NAMES: Final[dict[str, AnswerFormat]] = {
    **{name: name for name in ANSWER_FORMATS},
    "mcq": "choice",
    "multi": "multi_choice",
}
_STAGES: Final = ("raw", "final")

Compare = Callable[[Problem, str], Comparison]


def check_answer(case: Mapping[str, Any], compare: Compare | None = None) -> CheckResult:
    """Run one case of ``answers.jsonl``.

    Parameters
    ----------
    case
        ``format``, ``reference``, ``submitted``, ``equivalent``; ``stage`` ``raw`` (a whole
        model output, extraction is part of the case) or ``final``; ``accept`` with further
        right outcomes; ``options``, ``unit``, ``benchmark``, ``finish_reason``,
        ``prompt_shows_factor`` as needed.
    compare
        The comparator, e.g. a pool's; by default ``compare_answers`` in this process.

    Raises
    ------
    CaseError
        If a key is missing or of the wrong type.
    """
    problem = _problem(case)
    accepted = [_outcome(case, case.get("equivalent"))]
    accepted += [_outcome(case, value) for value in case.get("accept", ()) if value not in accepted]
    shows_factor = case.get("prompt_shows_factor", True)
    rule = compare or partial(compare_answers, prompt_shows_factor=shows_factor)
    submitted = _submitted(case, problem)
    got = None if submitted is None else rule(problem, submitted).equivalent
    expected = " or ".join(map(one_line, accepted))
    return CheckResult(case["id"], any(got is value for value in accepted), expected, one_line(got))


def _outcome(case: Mapping[str, Any], value: object) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise CaseError(f"case {case['id']!r}: an outcome must be true, false or null, not {value!r}")


def _problem(case: Mapping[str, Any]) -> Problem:
    name = required(case, "format")
    if name not in _FORMAT_NAMES:
        known = ", ".join(sorted(_FORMAT_NAMES))
        raise CaseError(f"case {case['id']!r}: format must be one of {known}, not {name!r}")
    return Problem(
        problem_uid=f"case:{case['id']}",
        benchmark=str(case.get("benchmark") or "").replace("-", "_"),
        problem="",
        reference=required(case, "reference"),
        answer_format=_FORMAT_NAMES[name],
        options=_options(case),
        unit=case.get("unit"),
    )


def _options(case: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the options in the order of their letters, or as listed."""
    options = case.get("options")
    if options is None:
        return None
    if isinstance(options, dict):
        return tuple(str(options[letter]) for letter in sorted(options))
    if isinstance(options, list):
        return tuple(map(str, options))
    raise CaseError(f"case {case['id']!r}: options must be an object or a list, not {options!r}")


def _submitted(case: Mapping[str, Any], problem: Problem) -> str | None:
    """Return the answer to compare; null where the model gave no content."""
    text: str | None = required(case, "submitted", (str, type(None)))
    stage = case.get("stage", "final")
    if stage not in _STAGES:
        raise CaseError(f"case {case['id']!r}: stage must be raw or final, not {stage!r}")
    if text is None or stage == "final":
        return text
    return extract_answer(
        text,
        answer_format=problem.answer_format,
        options=problem.options,
        finish_reason=case.get("finish_reason"),
    )
