"""How many calls a run makes at least and at most, for plans and progress."""

from __future__ import annotations

from dataclasses import dataclass

from dhd.config.protocols import ProtocolName
from dhd.prompts.protocols import TEMPERAMENTS
from dhd.protocols.setup import EndToEndSetup, Limits

_PEERS = len(TEMPERAMENTS)


@dataclass(frozen=True, slots=True)
class CallBounds:
    """Fewest and most calls of one run when every output can be read at once.

    The fewest are those of a run that passes at its first submission, in Broadcast with one
    speaker and no note a turn; the most those of a run that never passes.
    """

    fewest: int
    most: int


def call_bounds(protocol: ProtocolName, setup: EndToEndSetup) -> CallBounds:
    """Return the bounds of one run's calls, retries not counted."""
    limits = setup.limits
    submissions = submission_count(protocol, limits)
    first, most = {
        "direct": (1, 1),
        "iterative": (1, limits.rounds),
        "per": (3, limits.rounds * (3 * limits.review_cycles + 3)),
        "broadcast": (
            limits.discussion_turns * (_PEERS + 1) + _PEERS,
            limits.rounds * (limits.discussion_turns * 2 * _PEERS + limits.approval_votes * _PEERS),
        ),
    }[protocol]
    verdicts = int(setup.asks_verdicts)
    hints = (submissions - 1) * int(setup.asks_hints)
    return CallBounds(first + verdicts, most + submissions * verdicts + hints)


def submission_count(protocol: ProtocolName, limits: Limits) -> int:
    """Return the most submissions of one run, each of which is judged."""
    per_round = 2 if protocol == "per" else 1
    return per_round * (1 if protocol == "direct" else limits.rounds)
