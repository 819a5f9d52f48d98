"""What is asked of a model and what comes back; shared by protocol, engines and journal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Role = Literal["recruiter", "hypothesizer", "integrator", "evaluator"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One chat turn."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Decoding:
    """Sampling settings of a role (paper Table 27); ``max_tokens`` counts output tokens."""

    temperature: float
    max_tokens: int
    top_p: float = 1.0


@dataclass(frozen=True, slots=True)
class Request:
    """One model call.

    Attributes
    ----------
    role
        Which role asks.
    turns
        The rendered chat prompt.
    decoding
        Sampling settings.
    json_schema
        Schema of the answer where the engine has structured output, else None.
    draw
        What makes this call a draw of its own: empty for shared inputs, else study,
        condition, k, index, block, repeat and attempt, so that identical inputs
        are asked anew where the study wants that.
    """

    role: Role
    turns: tuple[Turn, ...]
    decoding: Decoding
    json_schema: Mapping[str, Any] | None = None
    draw: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """The outcome of one request, as the journal stores it.

    Attributes
    ----------
    key
        Content key of the request.
    status
        ``ok`` when the model answered (however badly), ``failed`` when it did not.
    reason
        Why a failed request failed (``prompt_too_long``, ``timeout``, ``http_500``, …).
    text
        Final text shown to the next stage, reasoning removed; None when there is none.
    raw
        Raw output, kept only where it differs from ``text``.
    finish_reason
        ``stop``, ``length``, …, as the engine reports it.
    prompt_tokens, cached_tokens, completion_tokens
        Token counts; cached tokens are the part of the prompt found in the prefix cache.
    answered_by
        Identity of the model that answered.
    """

    key: str
    status: Literal["ok", "failed"]
    text: str | None = None
    reason: str | None = None
    raw: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    answered_by: str = ""


def well_formed(completion: Completion) -> Completion:
    """Return the completion with lone surrogates, which no table can hold, replaced by U+FFFD."""
    changes = {}
    for name in ("text", "raw", "reason", "finish_reason", "answered_by"):
        value = getattr(completion, name)
        if value and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                pairs = value.encode("utf-16", "surrogatepass")
                changes[name] = pairs.decode("utf-16", "replace")
    return replace(completion, **changes) if changes else completion


#: How protocol code asks a model: it awaits one completion and never sees an engine.
Generate = Callable[[Request], Awaitable[Completion]]


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What distinguishes one model's answers from another's; part of every content key.

    ``settings`` holds what changes outputs: revision, chat template arguments, dtype.
    """

    name: str
    revision: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.name}@{self.revision}" if self.revision else self.name


_MAX_SCHEMAS = 4096
"""Encoded schemas kept at a time."""


class KeyMaker:
    """Makes the content keys of one model's requests.

    A key covers everything that shapes an answer: model, prompt, decoding, schema, draw id and
    the study's seed. Its parts are hashed with their lengths, so that no two requests run into
    one; parts that many requests share are encoded once.

    Parameters
    ----------
    model
        The model that answers.
    seed
        Seed of the study.
    """

    def __init__(self, model: ModelIdentity, seed: int) -> None:
        self._model = _canonical([model.name, model.revision, model.settings, seed])
        self._schemas: dict[int, tuple[Mapping[str, Any] | None, bytes]] = {}

    def key(self, request: Request) -> str:
        """Return the content key of a request: 32 hex digits."""
        decoding = request.decoding
        parts = [
            self._model,
            self._schema(request.json_schema),
            f"{decoding.temperature!r} {decoding.max_tokens} {decoding.top_p!r}".encode(),
            request.draw.encode(),
        ]
        for turn in request.turns:
            parts.append(turn.role.encode())
            parts.append(turn.content.encode("utf-8", "surrogatepass"))
        lengths = " ".join([str(len(part)) for part in parts])
        return hashlib.sha256(b"".join([lengths.encode(), b"\n", *parts])).hexdigest()[:32]

    def _schema(self, schema: Mapping[str, Any] | None) -> bytes:
        """Return a schema's encoding; prompts reuse equal schemas as one object."""
        found = self._schemas.get(id(schema))
        if found is None or found[0] is not schema:
            if len(self._schemas) >= _MAX_SCHEMAS:
                self._schemas.clear()
            found = self._schemas[id(schema)] = (schema, _canonical(schema))
        return found[1]


def _canonical(document: Any) -> bytes:
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def seed_of(key: str) -> int:
    """Return the sampling seed of a request: 31 bits of its content key."""
    return int(key[:8], 16) & 0x7FFFFFFF
