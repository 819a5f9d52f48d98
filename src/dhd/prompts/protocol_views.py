"""What the roles of an end-to-end protocol may know, beside the problem."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rejected:
    """An answer that failed, None where there was none, and the hint that came with it."""

    answer: str | None
    hint: str


@dataclass(frozen=True, slots=True)
class Statement:
    """What a peer, counted from 1, said to all."""

    peer: int
    text: str


@dataclass(frozen=True, slots=True)
class Standpoint:
    """What one peer of a discussion knows.

    Attributes
    ----------
    peer
        Number of the peer, from 1; it decides the temperament.
    rejected
        Answers that failed in earlier rounds.
    statements
        What was said to all, in order.
    notes
        The peer's own private notes.
    """

    peer: int
    rejected: tuple[Rejected, ...] = ()
    statements: tuple[Statement, ...] = ()
    notes: tuple[str, ...] = ()
