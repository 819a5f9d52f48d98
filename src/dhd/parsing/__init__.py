"""Tolerant parsing of model outputs: final text, messages, rosters and verdicts.

Outputs are hostile text: nothing is evaluated, every parser is linear in the text's length, and
what cannot be read without guessing is refused with a reason.
"""

from dhd.parsing.message import parse_message
from dhd.parsing.reasoning import final_text
from dhd.parsing.roster import parse_roster
from dhd.parsing.verdict import parse_verdict

__all__ = ["final_text", "parse_message", "parse_roster", "parse_verdict"]
