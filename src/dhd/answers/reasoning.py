"""Removal of reasoning from raw model outputs.

Engines separate reasoning with the model library's own parser. What arrives here with tags all
the same (an endpoint without a parser, a transcript) must not have its scratch work read as an
answer.
"""

from __future__ import annotations

import re
from typing import Final

_NAMES: Final = r"think(?:ing)?|thought|reasoning|analysis|scratchpad|reflection|seed:think"
_CLOSED: Final = re.compile(
    rf"<\|?({_NAMES})\|?>.*?<\|?/\|?\1\|?>|\[THINK\].*?\[/THINK\]|◁think▷.*?◁/think▷",
    re.DOTALL | re.IGNORECASE,
)
_CLOSING: Final = re.compile(rf"<\|?/\|?(?:{_NAMES})\|?>|\[/THINK\]|◁/think▷", re.IGNORECASE)
_OPENING: Final = re.compile(rf"<\|?(?:{_NAMES})\|?>|\[THINK\]|◁think▷", re.IGNORECASE)
_GEMMA: Final = re.compile(r"<\|channel>\s*thought.*?(?:<channel\|>|\Z)", re.DOTALL)
_CHANNEL: Final = re.compile(r"<\|channel\|>\s*(\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")
_MESSAGE_END: Final = re.compile(r"<\|(?:end|return|call|start)\|>")
_BARE_FINAL: Final = "assistantfinal"
_BARE_ANALYSIS: Final = re.compile(r"^analysis(?=[A-Z0-9\\$])")
_SPECIAL: Final = re.compile(r"<\|[a-z_]{1,24}\|>|</?s>|<(?:start|end)_of_turn>|<eos>")


def strip_reasoning(text: str) -> str:
    """Return what a model said after its reasoning; empty if it said nothing else.

    Knows ``<think>`` and its relatives, closed, unclosed (cut off while reasoning) and with the
    opening tag in the prompt; harmony channels, with and without their special tokens; and
    Gemma's thought channel.
    """
    if "<|channel|>" in text:
        text = _final_channel(text)
    if _BARE_ANALYSIS.match(text):
        return text.rpartition(_BARE_FINAL)[2].strip() if _BARE_FINAL in text else ""
    out = _GEMMA.sub("", text)
    out = _CLOSED.sub("", out)
    closings = list(_CLOSING.finditer(out))
    if closings:
        out = out[closings[-1].end() :]
    opening = _OPENING.search(out)
    if opening is not None:
        out = out[: opening.start()]
    return _SPECIAL.sub("", out).strip()


def _final_channel(text: str) -> str:
    final = ""
    for match in _CHANNEL.finditer(text):
        if match.group(1) == "final":
            rest = text[match.end() :]
            end = _MESSAGE_END.search(rest)
            final = rest if end is None else rest[: end.start()]
    return final.strip()
