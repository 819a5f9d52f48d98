"""What is asked of a model and what comes back; shared by protocol, engines and journal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
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


def content_key(model: ModelIdentity, request: Request, seed: int) -> str:
    """Return the content key of a request: 32 hex digits over everything that shapes its answer."""
    document = {
        "model": [model.name, model.revision, model.settings],
        "turns": [[turn.role, turn.content] for turn in request.turns],
        "decoding": [
            request.decoding.temperature,
            request.decoding.max_tokens,
            request.decoding.top_p,
        ],
        "schema": request.json_schema,
        "draw": request.draw,
        "seed": seed,
    }
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def seed_of(key: str) -> int:
    """Return the sampling seed of a request: 31 bits of its content key."""
    return int(key[:8], 16) & 0x7FFFFFFF
