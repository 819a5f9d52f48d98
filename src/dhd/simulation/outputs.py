"""From what a simulated call means to what it writes: values by name, in a schema's form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dhd.messages import FIELD_NAMES
from dhd.requests import Request
from dhd.simulation import texts

_ANSWERS: Final = frozenset({"proposed_answer", "final_answer", "answer", "candidate"})
_SCORES: Final = frozenset({"score", "confidence_score"})


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
        Uniform numbers that choose among texts and levels.
    left_out
        Name of a field that is left out, or empty.
    text_chars
        Least characters of a free-text field.
    """

    answer: str
    is_right: bool
    route: str
    messages: int
    text: float
    confidence: float
    left_out: str = ""
    text_chars: int = 0


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
        return _number(name, schema, meaning)
    if kind == "boolean":
        return meaning.is_right
    if "enum" in schema:
        return _level(schema["enum"], meaning)
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


def _number(name: str, schema: Mapping[str, Any], meaning: Meaning) -> int:
    low, high = schema.get("minimum", 0), schema.get("maximum", 1)
    if name == "correctness" or (low, high) == (0, 1):
        return int(meaning.is_right)
    sure = meaning.confidence**0.5 if meaning.is_right else meaning.confidence
    return int(low + sure * (high - low)) if name in _SCORES or high > low else int(low)


def _level(values: list[Any], meaning: Meaning) -> Any:
    strings = [value for value in values if isinstance(value, str)]
    return texts.confidence(meaning.confidence, is_right=meaning.is_right, levels=strings)


def _text(name: str, meaning: Meaning) -> str:
    match name:
        case "reasoning_direction":
            return texts.direction(meaning.route, meaning.text)
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
