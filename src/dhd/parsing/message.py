"""Parse a hypothesizer's output into the structured fields of a message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dhd.messages import FIELD_NAMES, MessageFields, ParsedMessage
from dhd.parsing.labels import labelled_sections, normalise_key
from dhd.parsing.lenient_json import JsonScan, JsonValue, scan_encoded
from dhd.parsing.reasoning import NoFinalTextError, readable_final_text

ALIASES: Final = {
    "reasoning": "reasoning_direction",
    "key_ideas": "key_idea",
    "critical_assumptions": "critical_assumption",
    "checks": "what_to_check",
}
"""Other names that are taken for a field; the proposed answer has none, so that none is guessed."""

_FIELD_OF: Final = {name: name for name in FIELD_NAMES} | ALIASES
_PLACEHOLDER = re.compile(
    r"<[a-z_ ]*answer[a-z_ ]*>|\[[a-z_ ]*answer[a-z_ ]*\]|\.{3}|…", re.IGNORECASE
)
_INVISIBLE = re.compile(r"[\s\u200b-\u200f\u2060\ufeff]*+")
_MAX_WRAPPERS: Final = 3


def parse_message(text: str | None, *, finish_reason: str | None = None) -> ParsedMessage:
    """Parse a message (paper, Prompt Interface Details) out of a hypothesizer's output.

    Takes a JSON object (fenced, in prose, alone in a list or a wrapper, encoded twice, with the
    usual slips), markdown headings, bold labels or YAML-style lines. The proposed answer must be
    there as text or number; the other fields may be missing.

    Parameters
    ----------
    text
        The output; None when the engine found no final text.
    finish_reason
        As the engine reports it; ``length`` makes an unreadable output ``truncated``.

    Returns
    -------
    ParsedMessage
        Field values are the model's text, trimmed, and nothing but data.
    """
    try:
        final = readable_final_text(text)
    except NoFinalTextError as error:
        return _invalid(str(error), finish_reason)
    scan = scan_encoded(final)
    if scan.unclosed:
        return ParsedMessage("truncated", reason="unclosed JSON")
    if any(_objects(scan)):
        candidates = [_fields_of(value) for value in _objects(scan)]
    elif scan.refused or final.startswith("{"):
        return _invalid("not readable as JSON", finish_reason)
    elif finish_reason == "length":  # the last section may be cut anywhere
        return _invalid("cut at the token limit", finish_reason)
    else:
        candidates = _labelled_fields(final)
    return _choose(candidates, finish_reason)


Fields = dict[str, str | None]


class _BadAnswerError(ValueError):
    """The proposed answer of one candidate cannot be used."""


def _invalid(reason: str, finish_reason: str | None) -> ParsedMessage:
    return ParsedMessage(
        "truncated" if finish_reason == "length" else "invalid_format", reason=reason
    )


def _objects(scan: JsonScan) -> Iterator[dict[str, JsonValue]]:
    """Yield the objects of a scan out of lists and out of wrappers with a single key."""
    for value in scan.values:
        yield from _unwrapped(value, _MAX_WRAPPERS)


def _unwrapped(value: JsonValue, depth: int) -> Iterator[dict[str, JsonValue]]:
    if isinstance(value, list):
        for item in value if depth else ():
            if isinstance(item, dict | list):
                yield from _unwrapped(item, depth - 1)
    elif isinstance(value, dict):
        inner = next(iter(value.values())) if len(value) == 1 else None
        wrapped = isinstance(inner, dict | list) and not _known(value)
        if wrapped and depth:
            yield from _unwrapped(inner, depth - 1)
        else:
            yield value


def _known(value: dict[str, JsonValue]) -> bool:
    return any(normalise_key(key) in _FIELD_OF for key in value)


def _fields_of(value: dict[str, JsonValue]) -> Fields | str:
    """Return the fields of an object, or why its proposed answer cannot be used."""
    fields: Fields = {}
    try:
        for key, item in value.items():
            name = _FIELD_OF.get(normalise_key(key))
            if name is not None:
                _add(fields, name, _answer(item) if name == "proposed_answer" else _text(item))
        return _with_answer(fields)
    except _BadAnswerError as error:
        return str(error)


def _add(fields: Fields, name: str, text: str | None) -> None:
    """Set a field; a second, different answer is a contradiction, other texts are joined."""
    before = fields.get(name)
    if before is None or text is None or before == text:
        fields[name] = text if before is None else before
    elif name == "proposed_answer":
        raise _BadAnswerError("two proposed answers")
    else:
        fields[name] = f"{before}\n{text}"


def _with_answer(fields: Fields) -> Fields:
    if fields.get("proposed_answer") is None:
        raise _BadAnswerError("missing proposed_answer")
    return fields


def _answer(value: JsonValue) -> str | None:
    text = _text(value)
    if text is None and value is not None:
        raise _BadAnswerError("proposed_answer is neither text nor number")
    if text is not None and _INVISIBLE.fullmatch(text):
        raise _BadAnswerError("empty answer")
    if text is not None and _PLACEHOLDER.fullmatch(text):
        raise _BadAnswerError("placeholder instead of an answer")
    return text


def _text(value: JsonValue) -> str | None:
    """Return a value as text: strings and numbers as written, lists of them joined by commas."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return ", ".join(str(item).strip() for item in value)
    return None


def _labelled_fields(text: str) -> list[Fields | str]:
    sections = labelled_sections(text, _FIELD_OF.__contains__)
    if not sections:
        return []
    fields: Fields = {}
    try:
        for label, content in sections:
            name = _FIELD_OF[label]
            _add(fields, name, _answer(content) if name == "proposed_answer" else content)
        return [_with_answer(fields)]
    except _BadAnswerError as error:
        return [str(error)]


def _choose(candidates: list[Fields | str], finish_reason: str | None) -> ParsedMessage:
    complete = [fields for fields in candidates if not isinstance(fields, str)]
    reasons = [reason for reason in candidates if isinstance(reason, str)]
    if not complete:
        return _invalid(reasons[-1] if reasons else "not structured", finish_reason)
    if len({fields["proposed_answer"] for fields in complete}) > 1:
        return _invalid("several messages with different answers", finish_reason)
    present = {name: text or None for name, text in complete[-1].items()}
    return ParsedMessage("ok", MessageFields(**present))
