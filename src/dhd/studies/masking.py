"""What the masking study shows in a message's place: the same footprint, less content.

Position, role line and word count stay; only the named fields change (paper, Appendix H).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import cycle, islice
from types import MappingProxyType
from typing import Final

from dhd.deliberation import Cell, MessageRow, Pool
from dhd.messages import FIELD_NAMES, MessageFields

#: Stands for one hidden word.
HIDDEN: Final = "[...]"
#: Said again and again in a neutral replacement: words without anything on the problem.
NEUTRAL_TEXT: Final = "unspecified here, as this part of the note was left without content;"
ANSWER_FIELDS: Final[tuple[str, ...]] = ("proposed_answer",)
REASONING_FIELDS: Final[tuple[str, ...]] = (
    "reasoning_direction",
    "key_idea",
    "critical_assumption",
    "what_to_check",
)
#: Fields that a condition replaces, and by what.
_MASKS: Final[Mapping[str, tuple[tuple[str, ...], str]]] = MappingProxyType(
    {
        "neutral": (FIELD_NAMES, NEUTRAL_TEXT),
        "mask_answer": (ANSWER_FIELDS, HIDDEN),
        "mask_reasoning": (REASONING_FIELDS, HIDDEN),
    }
)


def masked_pool(pool: Pool, cell: Cell) -> Pool:
    """Return the pool as a call of the masking study shows it.

    ``neutral`` replaces every field of the targeted message, ``mask_answer`` its proposed
    answer, ``mask_reasoning`` its four reasoning fields. Other conditions change no text.
    """
    if cell.condition not in _MASKS:
        return pool
    names, filler = _MASKS[cell.condition]
    messages = tuple(
        _masked(message, names, filler) if message.message_index == cell.message_index else message
        for message in pool.messages
    )
    return replace(pool, messages=messages)


def _masked(message: MessageRow, names: tuple[str, ...], filler: str) -> MessageRow:
    hidden = {
        name: footprint(value, filler)
        for name in names
        if (value := getattr(message.fields, name)) is not None
    }
    fields: MessageFields = replace(message.fields, **hidden)
    return replace(message, fields=fields)


def footprint(text: str, filler: str) -> str:
    """Return as many words as ``text`` has, taken from ``filler`` again and again."""
    return " ".join(islice(cycle(filler.split()), len(text.split())))
