"""Roles, messages and verdicts: what model outputs are parsed into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

POOL_SIZE: Final = 5
"""Messages in a pool, and roles in a roster (paper, DHD protocol)."""

FIELD_NAMES: Final = (
    "proposed_answer",
    "reasoning_direction",
    "key_idea",
    "critical_assumption",
    "what_to_check",
    "confidence",
)
"""Structured fields of a message (paper, Prompt Interface Details)."""

ParseStatus = Literal["ok", "invalid_format", "truncated"]


@dataclass(frozen=True, slots=True)
class ExpertRole:
    """One role of a roster: its name and the lens through which it sees the problem."""

    name: str
    lens: str = ""


@dataclass(frozen=True, slots=True)
class MessageFields:
    """The structured fields of one message; None where the model left a field out."""

    proposed_answer: str | None = None
    reasoning_direction: str | None = None
    key_idea: str | None = None
    critical_assumption: str | None = None
    what_to_check: str | None = None
    confidence: str | None = None


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """A hypothesizer output after parsing; ``fields`` is empty unless ``status`` is ``ok``."""

    status: ParseStatus
    fields: MessageFields = MessageFields()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ParsedRoster:
    """A recruiter output after parsing; ``roles`` has five entries when ``status`` is ``ok``."""

    status: ParseStatus
    roles: tuple[ExpertRole, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ParsedVerdict:
    """An evaluator output after parsing; ``correct`` is None when there is no verdict."""

    correct: bool | None
    reason: str | None = None
