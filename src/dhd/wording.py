"""Numbers in messages: counted nouns and durations."""

from __future__ import annotations


def number_of(count: int, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun: ``1 problem``, ``2,000 problems``."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def duration(seconds: float) -> str:
    """Return a time in the two largest of its units: ``2 h 5 min``, ``3 min 10 s``, ``8 s``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
