"""Reading a prompt: which item it is about, and which messages it shows.

The engine sees prompts alone. It finds in them what simulated texts carry: an item's code in
brackets; blocks between lines of tildes; in a block the line ``proposed_answer: …`` and the
words ``Route`` and a code, which every simulated message has in its reasoning. A message whose
answer or reasoning is masked or replaced shows the part that is left, and works with that part
alone. Plans and statements of the end-to-end protocols are such blocks too; rejected answers
stand in lines ``Rejected answer 1: …``, and an answer that is up for review or approval ends the
prompt after a colon. Templates other than those in ``resources/prompts`` do as long as they keep
to this.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from dhd.requests import Turn
from dhd.simulation.stand_ins import StandIn, code_in, stand_in
from dhd.simulation.world import Shown

ROUTE_WORD: Final = "Route "
ROUTE_LENGTH: Final = 8
_REJECTED: Final = re.compile(r"^Rejected answer \d+: (.*)$", re.MULTILINE)
_ANSWER_LABEL: Final = "proposed_answer: "
_HEX: Final = re.compile(r"[0-9a-f]+")


def item_in(turns: Sequence[Turn]) -> StandIn | None:
    """Return the item that a prompt is about, the last one if turns name several."""
    for turn in reversed(turns):
        code = code_in(turn.content)
        if code is not None:
            return stand_in(code)
    return None


def blocks(text: str) -> list[str]:
    """Return what stands between lines of tildes; simulated texts have no tildes themselves."""
    return text.split("~~~")[1::2]


def messages_in(text: str, code: str) -> list[Shown]:
    """Return the messages that a text about an item shows, in order; the item is none of them."""
    return [
        Shown(_answer_in(block), route_in(block)) for block in blocks(text) if code not in block
    ]


def rejected_in(text: str) -> list[str]:
    """Return the rejected answers that a text lists."""
    return _REJECTED.findall(text) if "Rejected answer" in text else []


def held_in(text: str) -> str:
    """Return what follows the last colon of a text: the answer that is up for approval."""
    return text.rstrip().rsplit("\n", 1)[-1].rpartition(": ")[2]


def route_in(text: str) -> str | None:
    """Return the first route code in a text, or None."""
    start = text.find(ROUTE_WORD)
    if start < 0:
        return None
    start += len(ROUTE_WORD)
    code = text[start : start + ROUTE_LENGTH]
    return code if len(code) == ROUTE_LENGTH and _HEX.fullmatch(code) else None


def _answer_in(block: str) -> str | None:
    start = block.find(_ANSWER_LABEL)
    if start < 0:
        return None
    return block[start + len(_ANSWER_LABEL) :].split("\n", 1)[0].strip()
