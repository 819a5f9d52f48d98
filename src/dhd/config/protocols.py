"""Settings of the study ``protocols``: four end-to-end protocols (Tables 11 and 12)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dhd.config.roles import Distinct, Identifier, RoleDecoding
from dhd.config.strict import Strict

ProtocolName = Literal["direct", "iterative", "per", "broadcast"]

_Count = Annotated[int, Field(gt=0)]


class ProtocolsSettings(Strict):
    """Direct, Iterative, planner–executor–reviewer and Broadcast, with evaluator feedback.

    Submissions are judged as ``judging`` says. Between rounds the evaluator gives a hint that
    must not leak the reference.
    """

    names: Annotated[list[ProtocolName], Distinct] = Field(
        default=["direct", "iterative", "per", "broadcast"],
        min_length=1,
        description="Protocols that run.",
    )
    families: Annotated[list[Identifier], Distinct] | None = Field(
        None, min_length=1, description="Families that take part; null: all."
    )
    problems: _Count | None = Field(
        None, description="Problems drawn from each benchmark by studies.seed; null: all."
    )
    rounds: _Count = Field(3, description="Most outer rounds; a PASS ends a run.")
    review_cycles: _Count = Field(
        2, description="PER: most cycles of plan, execution and review before a submission."
    )
    discussion_turns: _Count = Field(4, description="Broadcast: turns of a discussion.")
    note_score: int = Field(
        65, ge=1, le=100, description="Broadcast: score from which a peer keeps a private note."
    )
    approval_votes: _Count = Field(2, description="Broadcast: most votes on a candidate.")
    max_attempts: _Count = Field(
        3, description="Tries for a plan, review, poll, statement, note, vote or hint to be read."
    )
    actor: RoleDecoding | None = Field(
        None, description="Sampling of all solving roles; null: as decoding.integrator."
    )
    hint_writer: Identifier | None = Field(
        None,
        description="Model that writes hints where judging.method is rules, which asks none; "
        "null: the fixed hint.",
    )
    alternate: bool | None = Field(
        None,
        description="Ask actor and evaluator in jobs of their own that take turns; null: "
        "where both are different vLLM models, which cannot share a node's GPUs.",
    )
