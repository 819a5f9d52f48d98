"""A deterministic engine for tests: every answer follows from the content key.

A request's form follows from its role and JSON schema, everything else from the key, so that two
runs, or two orders of the same requests, give the same answers. Failures are permanent: a key
that fails once fails in every process, since nothing outlives a process but the key.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import Mapping
from itertools import combinations
from typing import Any, Final

from dhd.config.models import ScriptedModel
from dhd.messages import FIELD_NAMES, POOL_SIZE
from dhd.requests import Completion, Request

_ROLES: Final = (
    ("Dimensional Analyst", "checks units and orders of magnitude first"),
    ("Symmetry Specialist", "looks for invariants and conserved quantities"),
    ("Limiting-Case Tester", "tries extreme values of every parameter"),
    ("Direct Calculator", "carries the computation through step by step"),
    ("Counterexample Hunter", "tries to break each claim"),
    ("Definition Checker", "reads every term as the problem defines it"),
    ("Estimator", "bounds the result before computing it"),
    ("Mechanism Modeller", "writes down the governing relations"),
)
_CONFIDENCES: Final = ("very low", "low", "medium", "high", "very high")
_LETTERS: Final = "ABCD"
_SHORT_ANSWERS: Final = (
    tuple("0123456789"),
    tuple(_LETTERS),
    *(tuple(map(", ".join, combinations(_LETTERS, size))) for size in (2, 3, 4)),
)
_TEXT_FIELDS: Final = {
    "reasoning_direction": "Set up the relation and solve it in the direction number {n}.",
    "key_idea": "Quantity {n} stays fixed while the others change.",
    "critical_assumption": "Effect {n} is negligible.",
    "what_to_check": "Substitute back and compare term {n}.",
    "work": "Message {n} is followed; its last step was computed again.",
    "rationale": "Message {n} is followed; its last step was computed again.",
}
_CHARACTERS_PER_TOKEN: Final = 4


class ScriptedEngine:
    """Answers requests without a model (settings: ``ScriptedModel``)."""

    def __init__(self, settings: ScriptedModel) -> None:
        self.identity = settings.identity()
        self._settings = settings
        self._answered_by = str(self.identity)
        self._waiting: deque[tuple[str, Request]] = deque()

    @property
    def capacity(self) -> int:
        """Return how many requests may be submitted and unanswered at a time."""
        return self._settings.max_in_flight

    async def start(self) -> None:
        """Do nothing: there is no model to load."""

    def submit(self, key: str, request: Request) -> None:
        """Take a request; its answer follows from ``key``, 32 hex digits."""
        self._waiting.append((key, request))

    async def poll(self) -> list[Completion]:
        """Answer up to ``max_in_flight`` requests after ``latency_s`` seconds."""
        await asyncio.sleep(self._settings.latency_s)
        count = min(len(self._waiting), self._settings.max_in_flight)
        return [self._answer(*self._waiting.popleft()) for _ in range(count)]

    async def close(self) -> None:
        """Forget what was not answered."""
        self._waiting.clear()

    def _answer(self, key: str, request: Request) -> Completion:
        settings = self._settings
        if _share(key, 1) < settings.failed_rate:
            return self._failed(key, "scripted_failure")
        try:
            text = scripted_text(key, request)
        except LookupError:
            return self._failed(key, "scripted_no_answer")
        finish_reason = "stop"
        if _share(key, 2) < settings.truncated_rate:
            text, finish_reason = text[: len(text) // 2], "length"
        elif _share(key, 3) < settings.invalid_rate:
            text = "I would rather talk about the weather."
        limit = request.decoding.max_tokens * _CHARACTERS_PER_TOKEN
        if len(text) > limit:
            text, finish_reason = text[:limit], "length"
        return Completion(
            key,
            "ok",
            text=text,
            finish_reason=finish_reason,
            prompt_tokens=_tokens(sum(len(turn.content) for turn in request.turns)),
            completion_tokens=_tokens(len(text)),
            answered_by=self._answered_by,
        )

    def _failed(self, key: str, reason: str) -> Completion:
        return Completion(key, "failed", reason=reason, answered_by=self._answered_by)


def scripted_text(key: str, request: Request) -> str:
    """Return the scripted answer to a request: JSON where it has a schema, else prose.

    Parameters
    ----------
    key
        Content key of the request, 32 hex digits.
    request
        Gives the role and the JSON schema; its prompt is not looked at.

    Raises
    ------
    LookupError
        If the schema has a pattern that allows no digit, letter or list of letters A-D.
    """
    if request.json_schema is not None:
        return json.dumps(_instance(request.json_schema, key, ""))
    if request.role == "recruiter":
        return json.dumps({"roles": [f"{name}: {lens}" for name, lens in _roster(key)]})
    if request.role == "hypothesizer":
        return json.dumps({name: _field(name, key) for name in FIELD_NAMES})
    if request.role == "evaluator":
        return "Correctness: 1\nVerdict: PASS" if _is_pass(key) else "Correctness: 0\nVerdict: FAIL"
    answer = _short_answer(key)
    work = _TEXT_FIELDS["work"].format(n=_number(key, 3) % 5 + 1)
    return f"{work}\n\nTherefore \\boxed{{{answer}}}.\nFinal answer: {answer}"


def _instance(schema: Mapping[str, Any], key: str, name: str) -> Any:
    """Return a value that a schema allows; ``name`` is the property it belongs to."""
    if name == "correctness":
        return int(_is_pass(key))
    if name == "verdict":
        return "PASS" if _is_pass(key) else "FAIL"
    if "enum" in schema:
        return schema["enum"][_number(key, 4) % len(schema["enum"])]
    kind = schema.get("type")
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: _instance(inner, key, name) for name, inner in properties.items()}
    if kind == "array":
        return _array(schema, key)
    if kind in {"integer", "number"}:
        low, high = schema.get("minimum", 0), schema.get("maximum", 9)
        return low + _number(key, 4) % (high - low + 1)
    if kind == "boolean":
        return _is_pass(key)
    text = _field(name, key) if "pattern" not in schema else _matching(schema["pattern"], key)
    return text[: schema["maxLength"]] if "maxLength" in schema else text


def _array(schema: Mapping[str, Any], key: str) -> list[Any]:
    count = schema.get("minItems", POOL_SIZE)
    items = schema.get("items", {})
    names = items.get("properties")
    roles = _roster(key)[:count]
    if not names:
        return [f"{name}: {lens}"[: items.get("maxLength")] for name, lens in roles]
    first, *others = names
    return [{first: name} | dict.fromkeys(others, lens) for name, lens in roles]


def _matching(pattern: str, key: str) -> str:
    """Return a short answer that a pattern allows: a digit, else a letter, else several letters.

    Raises
    ------
    LookupError
        If the pattern allows none of them.
    """
    start = _number(key, 4)
    for symbols in _SHORT_ANSWERS:
        for offset in range(len(symbols)):
            symbol = symbols[(start + offset) % len(symbols)]
            if re.search(pattern, symbol):
                return symbol
    raise LookupError(pattern)


def _field(name: str, key: str) -> str:
    if name == "confidence":
        return _CONFIDENCES[_number(key, 3) % len(_CONFIDENCES)]
    template = _TEXT_FIELDS.get(name)
    return _short_answer(key) if template is None else template.format(n=_number(key, 3) % 5 + 1)


def _short_answer(key: str) -> str:
    number = _number(key, 4)
    return _LETTERS[number % 4] if number % 16 < 4 else str(number // 16 % 10)


def _roster(key: str) -> list[tuple[str, str]]:
    start = _number(key, 4) % len(_ROLES)
    return [_ROLES[(start + step) % len(_ROLES)] for step in range(POOL_SIZE)]


def _is_pass(key: str) -> bool:
    return _number(key, 4) % 2 == 0


def _number(key: str, part: int) -> int:
    """Return one of the key's five 24-bit parts (0 … 4), which are independent of each other."""
    return int(key[6 * part : 6 * part + 6], 16)


def _share(key: str, part: int) -> float:
    return _number(key, part) / 2**24


def _tokens(characters: int) -> int:
    return max(1, -(-characters // _CHARACTERS_PER_TOKEN))
