"""Answers of structured outputs: the answer field of a JSON object."""

from __future__ import annotations

import json
import re
from typing import Any, Final

FIELDS: Final = ("final_answer", "answer", "proposed_answer")
"""Fields that hold an answer, in order of preference."""

_FENCE_MARK: Final = re.compile(r"```(?:json\b)?", re.IGNORECASE)
_FIELD: Final = re.compile(rf'"(?:{"|".join(FIELDS)})"\s*:')
_LATEX_AFTER_ESCAPE: Final = re.compile(
    r"(?<!\\)(\\\\)*\\(?=frac|forall|flat|floor|beta|binom|boxed|bar|big|bmod|begin|bf|theta|times|text|tan|tau|tfrac|to(?![a-z])"
    r"|nu(?![a-z])|neq|ne(?![a-z])|nabla|not|notin|rho|right|rm|rangle|rfloor|rceil|rightarrow|[^\"\\/bfnrtu\s])"
)
_MAX_OBJECTS: Final = 40


def looks_structured(body: str) -> bool:
    """Whether an output is meant as one JSON object."""
    return body.startswith(("{", "```json"))


def json_answer(body: str) -> str | None:
    """Return the answer field of the last JSON object that has one.

    None if there is no such object; the empty string if its answer is missing or null.
    """
    if not _FIELD.search(body):
        return None
    for text in _objects(body):
        document = _decode(text)
        if document is not None and any(field in document for field in FIELDS):
            return next((_as_text(document[field]) for field in FIELDS if field in document), "")
    return None


def _objects(body: str) -> list[str]:
    """Return the texts that may begin with an answer object, likeliest first."""
    fenced = [part.strip() for part in _FENCE_MARK.split(body)[1:-1]]
    fenced = [part for part in fenced if part[:1] + part[-1:] == "{}"][-_MAX_OBJECTS:]
    starts = [match.start() for match in re.finditer(r'\{\s*"', body)][-_MAX_OBJECTS:]
    whole = [body] if body.startswith("{") else []
    return [*whole, *reversed(fenced), *(body[start:] for start in reversed(starts))]


def _decode(text: str) -> dict[str, Any] | None:
    decoder = json.JSONDecoder(strict=False)
    for candidate in (_LATEX_AFTER_ESCAPE.sub(lambda m: m.group() + "\\", text), text):
        try:
            document, _ = decoder.raw_decode(candidate)
        except (json.JSONDecodeError, RecursionError):
            continue
        if isinstance(document, dict):
            return document
    return None


def _as_text(value: object) -> str:
    if value is None or isinstance(value, dict):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ", ".join(_as_text(item) for item in value)
    return str(value).strip()
