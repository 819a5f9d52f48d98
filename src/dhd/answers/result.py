"""The outcome of a comparison."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome of comparing a submitted answer with the reference.

    Attributes
    ----------
    equivalent
        True or False where the rules decide; None where they defer.
    reason
        The rule that decided or why none could, as one lower-case word with underscores.
    """

    equivalent: bool | None
    reason: str


def deferred(reason: str) -> Comparison:
    """Return a deferred comparison."""
    return Comparison(None, reason)


def decided(equivalent: bool | None, reason: str) -> Comparison:
    """Return an outcome under a rule's name; a None of the rule is marked as undecided."""
    return Comparison(equivalent, reason if equivalent is not None else f"{reason}_undecided")
