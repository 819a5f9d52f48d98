"""Verdicts of parts of an answer, and how they add up."""

from __future__ import annotations

from collections.abc import Iterable

Verdict = bool | None
"""Right, wrong, or not to be told by the rules."""


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Return False if any is False, else None if any is None, else True."""
    found = list(verdicts)
    if False in found:
        return False
    return None if None in found else True


def any_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Return True if any is True, else None if any is None, else False."""
    found = list(verdicts)
    if True in found:
        return True
    return None if None in found else False
