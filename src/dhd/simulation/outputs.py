"""From what a simulated call means to what it writes: values by name, in a schema's form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dhd.messages import FIELD_NAMES
from dhd.requests import Request
from dhd.simulation import texts

_ANSWERS: Final = frozenset({"proposed_answer", "final_answer", "candidate", "revision"})
_ROUTED: Final = frozenset({"reasoning_direction", "plan", "statement"})
"""Texts that carry a route, so that they move whoever reads them."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one call means to say, before it is written down.

    Attributes
    ----------
    answer
        The answer given; empty where there is none.
    is_right
        Whether the answer is right; for an evaluator, whether it passes the submission.
    route
        Code of the route in a message's reasoning.
    messages
        Messages that were read.
    text, confidence
        Uniform numbers that choose among texts, and among levels and scores.
    left_out
        Name of a field that is left out, or empty.
    text_chars
        Least characters of a free-text field.
    agrees
        Whether the answer is the one that the prompt puts up for review or approval.
    """

    answer: str
    is_right: bool
    route: str
    messages: int
    text: float
    confidence: float
    left_out: str = ""
    text_chars: int = 0
    agrees: bool = False


def written(request: Request, meaning: Meaning) -> str:
    """Return the output: an object in the form of the request's schema, or the plain form."""
    schema = request.json_schema
    if schema is None:
        return _plain(request, meaning)
    properties = schema.get("properties", {})
    document = {
        name: _value(name, inner, meaning)
        for name, inner in properties.items()
        if name != meaning.left_out
    }
    return json.dumps(document, ensure_ascii=False)


def _plain(request: Request, meaning: Meaning) -> str:
    """Return the output for a request without a schema."""
    if request.role == "recruiter":
        names = [f"{name}: {lens}" for name, lens in texts.roster(meaning.text)]
        return json.dumps({"roles": names})
    if request.role == "hypothesizer":
        return json.dumps({name: _value(name, {}, meaning) for name in FIELD_NAMES})
    if request.role == "evaluator":
        number, word = (1, "PASS") if meaning.is_right else (0, "FAIL")
        return f"Correctness: {number}\nVerdict: {word}"
    reasoning = _stretched(_text("work", meaning), meaning.text_chars)
    return f"{reasoning}\n\nFinal answer: \\boxed{{{meaning.answer}}}"


def _value(name: str, schema: Mapping[str, Any], meaning: Meaning) -> Any:
    """Return what a property says, by its name first and its type second."""
    kind = schema.get("type", "string")
    if kind == "array":
        return _roles(schema, meaning)
    if name in _ANSWERS:
        return meaning.answer
    if name == "verdict":
        return "PASS" if meaning.is_right else "FAIL"
    if kind in ("integer", "number"):
        return _number(schema, meaning)
    if kind == "boolean":
        return meaning.agrees
    if "enum" in schema:
        return _level(name, schema["enum"], meaning)
    text = _stretched(_text(name, meaning), meaning.text_chars)
    return text[: schema["maxLength"]] if "maxLength" in schema else text


def _roles(schema: Mapping[str, Any], meaning: Meaning) -> list[Any]:
    items = schema.get("items", {})
    named = items.get("properties")
    limit = items.get("maxLength")
    roles = texts.roster(meaning.text)[: schema.get("minItems")]
    if named:
        first, *others = named
        return [{first: name} | dict.fromkeys(others, lens) for name, lens in roles]
    return [f"{name}: {lens}"[:limit] for name, lens in roles]


def _number(schema: Mapping[str, Any], meaning: Meaning) -> int:
    """Return a verdict's number, or a score between its bounds."""
    if "minimum" not in schema:
        return int(meaning.is_right)
    low, high = schema["minimum"], schema["maximum"]
    return int(low + meaning.confidence * (high - low))


def _level(name: str, values: list[Any], meaning: Meaning) -> Any:
    """Return a self-report, or where a reviewer sends the work: on only if it agrees."""
    if name == "route":
        return values[0] if meaning.agrees else texts.pick(meaning.confidence, values[1:])
    return texts.confidence(meaning.confidence, is_right=meaning.is_right, levels=values)


def _text(name: str, meaning: Meaning) -> str:
    if name in _ROUTED:
        return texts.direction(meaning.route, meaning.text)
    match name:
        case "hint":
            return texts.pick(meaning.text, texts.HINTS)
        case "key_idea":
            return texts.idea(meaning.text)
        case "critical_assumption":
            return texts.assumption(meaning.text)
        case "what_to_check":
            return texts.check(meaning.text)
        case "confidence":
            return texts.confidence(meaning.confidence, is_right=meaning.is_right)
    return texts.work(meaning.text, messages=meaning.messages)


def _stretched(text: str, least: int) -> str:
    """Return a text again and again until it is long enough."""
    if len(text) >= least:
        return text
    return " ".join([text] * -(-least // len(text)))[:least].rstrip()
