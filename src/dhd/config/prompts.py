"""Settings of prompts and of the structured answers that they ask for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final, Literal, get_args

from pydantic import Field, field_validator

from dhd.config.strict import Strict
from dhd.messages import FIELD_NAMES
from dhd.problems import AnswerFormat
from dhd.requests import Role

Caller = Role | Literal["protocols"]
"""Who asks: a role, or the end-to-end protocols with all their calls, judging apart."""

RosterText = Literal["role"]
MessageText = Literal[
    "proposed_answer", "reasoning_direction", "key_idea", "critical_assumption", "what_to_check"
]
SolutionText = Literal["work", "final_answer"]
ProtocolText = Literal[
    "plan",
    "review",
    "thought",
    "candidate",
    "statement",
    "note",
    "assessment",
    "revision",
    "hint",
]
LimitedField = Literal[RosterText, MessageText, SolutionText, ProtocolText]
"""Strings in structured answers whose length can be limited."""

FIELDS_OF: Final[Mapping[Caller, tuple[LimitedField, ...]]] = MappingProxyType(
    {
        "recruiter": get_args(RosterText),
        "hypothesizer": get_args(MessageText),
        "integrator": get_args(SolutionText),
        "evaluator": (),
        # Solvers and executors answer as the integrator does.
        "protocols": (*get_args(SolutionText), *get_args(ProtocolText)),
    }
)
"""The fields that each caller's answers have, of those that can be limited."""


class PromptSettings(Strict):
    """The ``prompts`` section of the config.

    The limits apply to structured output alone: they keep a small model brief and are
    left out for models that may write as much as their token budget allows.
    """

    folder: str = Field(
        "resources/prompts",
        min_length=1,
        description="Folder of templates; a file that it lacks is taken from resources/prompts.",
    )
    field_order: list[str] = Field(
        default=[
            "reasoning_direction",
            "key_idea",
            "critical_assumption",
            "what_to_check",
            "proposed_answer",
            "confidence",
        ],
        description="Order in which a hypothesizer writes the six fields of a message.",
    )
    field_max_chars: dict[LimitedField, Annotated[int, Field(gt=0)]] = Field(
        default={},
        description="Most characters of a string in structured output; one not named: no limit.",
    )
    confidence_levels: list[str] = Field(
        default=["very low", "low", "medium", "high", "very high"],
        min_length=2,
        description="Words among which a hypothesizer states its confidence.",
    )
    constrain_answers: bool = Field(
        True,
        description="Allow only letters of options, digits or numbers where the format has them.",
    )
    answer_patterns: dict[AnswerFormat, str] = Field(
        default={},
        description="Regular expression for the answers of a format, in place of its constraint.",
    )
    choice_answers: Literal["letters", "texts"] = Field(
        "letters",
        description="What a choice answer is among: letters of the options, or their texts.",
    )
    multi_choice_count: int | None = Field(
        None,
        gt=0,
        description="Options that every multi_choice answer names; null: any number.",
    )

    @field_validator("field_order")
    @classmethod
    def _all_fields_once(cls, value: list[str]) -> list[str]:
        if sorted(value) != sorted(FIELD_NAMES):
            raise ValueError(f"must name each of these once: {', '.join(FIELD_NAMES)}")
        return value

    @field_validator("answer_patterns")
    @classmethod
    def _anchored_expressions(cls, value: dict[AnswerFormat, str]) -> dict[AnswerFormat, str]:
        for answer_format, pattern in value.items():
            if not (pattern.startswith("^") and pattern.endswith("$")):
                raise ValueError(f"{answer_format}: {pattern!r} must begin with ^ and end with $")
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{answer_format}: {pattern!r}: {error}") from error
        return value

    @field_validator("confidence_levels")
    @classmethod
    def _no_level_twice(cls, value: list[str]) -> list[str]:
        if len(set(value)) < len(value) or not all(level.strip() for level in value):
            raise ValueError("must be distinct words")
        return value
