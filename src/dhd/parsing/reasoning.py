"""Separate a model's final text from its reasoning.

Engines with a reasoning parser do this on tokens; this is the fallback on text, for endpoints and
models that leave the markers in. Reasoning is only recognised where a model puts it, at the start
of the output: markers that a final text merely quotes do not move its boundary.
"""

from __future__ import annotations

import json
import re
from typing import Final

MAX_FINAL_CHARS: Final = 200_000
"""Longest final text that is read; 4,096 tokens (paper, Table 27) are a tenth of it."""

_HARMONY = re.compile(r"<\|(start|channel|constrain|message|end|return|call)\|>")
_TERMINATORS = frozenset({"end", "return", "call"})
_FINAL_HEADER = re.compile(r"\s*final\s*(?:json|text)?\s*", re.IGNORECASE)
_CHANNEL_NAME = re.compile(r"(?:assistant)?\s*(?:analysis|commentary|final)\b.{0,80}", re.DOTALL)

# Without its special tokens, `<|channel|>analysis<|message|>Try` reads "analysisTry".
_STRIPPED_START = re.compile(r"(?:assistant)?(?:analysis|commentary)(?=[^\s:.,;\-])")
_STRIPPED_FINAL = re.compile(r"(?<![\"'`“‘])assistantfinal")
_STRIPPED_FINAL_ONLY = re.compile(r"(?:assistant)?final(?=\s*(?:json\s*)?[{\[])|assistantfinal")

_THINK_NAMES = r"(?:think|thinking|thought|seed:think)"
_THINK_OPEN = re.compile(rf"<{_THINK_NAMES}>|\[THINK\]|<\|channel>", re.IGNORECASE)
_THINK_CLOSE = re.compile(rf"</{_THINK_NAMES}>|\[/THINK\]|<channel\|>", re.IGNORECASE)
_END_TOKENS = (
    "<|return|>",
    "<|end|>",
    "<|call|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|endoftext|>",
    "<end_of_turn>",
    "<turn|>",
    "<eos>",
    "</s>",
)


def final_text(text: str | None) -> str | None:
    """Return the part of an output that is meant for the reader, or None when there is none.

    Handles Harmony channels (the last ``final`` message wins; analysis or commentary alone, or a
    damaged header, is None), Harmony with its special tokens stripped, and think tags, also with
    the opening tag missing. A think tag that is never closed leaves no final text.

    Parameters
    ----------
    text
        The output as the engine gave it; None stays None.
    """
    if text is None:
        return None
    text = _without_end_tokens(text)
    if not _is_json_object(text):
        found = _harmony_final(text)
        found = None if found is None else _after_thinking(found)
        text = "" if found is None else _without_end_tokens(found)
    return text or None


class NoFinalTextError(ValueError):
    """An output has no final text that a parser could read; the message says why."""


def readable_final_text(text: str | None) -> str:
    """Return the final text of an output.

    Raises
    ------
    NoFinalTextError
        If the output is empty, has no final part, or is longer than any answer is.
    """
    if text is None or not text.strip():
        raise NoFinalTextError("empty output")
    final = final_text(text)
    if final is None:
        raise NoFinalTextError("no final part")
    if len(final) > MAX_FINAL_CHARS:
        raise NoFinalTextError(f"final text of {len(final)} characters")
    return final


def _without_end_tokens(text: str) -> str:
    text = text.strip()
    end = len(text)
    while end:
        if text.endswith(_END_TOKENS, 0, end):
            end = text.rfind("<", 0, end)
        elif text[end - 1].isspace():
            end -= 1
        else:
            break
    return text[:end]


def _is_json_object(text: str) -> bool:
    """Tell whether the whole text is one JSON object, in whose strings tags are data."""
    if not (text.startswith("{") and text.endswith("}")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _harmony_final(text: str) -> str | None:
    """Return the last final message of a Harmony transcript; other text comes back as it is."""
    tokens = list(_HARMONY.finditer(text))
    if not tokens or not _begins_harmony(text, tokens[0]):
        return _stripped_harmony_final(text)
    finals: list[str] = []
    body_is_final = False
    for position, token in enumerate(tokens):
        previous = tokens[position - 1][1] if position else "start"
        if previous in _TERMINATORS or previous == "start":
            body_is_final = False
        if token[1] != "channel" or body_is_final or previous in {"channel", "constrain"}:
            continue
        body = _body_of_final(text, tokens, position)
        if body is not None:
            finals.append(body)
            body_is_final = True
    return finals[-1] if finals else None


def _begins_harmony(text: str, first: re.Match[str]) -> bool:
    """Tell a transcript from a text that quotes Harmony tokens somewhere in the middle."""
    before = text[: first.start()].strip()
    if not before or first[1] in _TERMINATORS:
        return True
    return first[1] in {"message", "constrain"} and bool(_CHANNEL_NAME.fullmatch(before))


def _body_of_final(text: str, tokens: list[re.Match[str]], position: int) -> str | None:
    """Return the body of the message whose channel token is given, None unless it is final."""
    header_end = position + 1
    if header_end < len(tokens) and tokens[header_end][1] == "constrain":
        header_end += 1
    if header_end >= len(tokens) or tokens[header_end][1] != "message":
        return None
    name = text[tokens[position].end() : tokens[position + 1].start()]
    if not _FINAL_HEADER.fullmatch(name):
        return None
    body_end = tokens[header_end + 1].start() if header_end + 1 < len(tokens) else len(text)
    return text[tokens[header_end].end() : body_end]


def _stripped_harmony_final(text: str) -> str | None:
    if _STRIPPED_START.match(text):
        finals = list(_STRIPPED_FINAL.finditer(text))
        return text[finals[-1].end() :] if finals else None
    alone = _STRIPPED_FINAL_ONLY.match(text)
    return text[alone.end() :] if alone else text


def _after_thinking(text: str) -> str | None:
    """Return what follows the last closing tag; None when an opening tag is never closed."""
    closings = list(_THINK_CLOSE.finditer(text))
    if closings:
        text = text[closings[-1].end() :]
    for opening in _THINK_OPEN.finditer(text):
        line_start = text.rfind("\n", 0, opening.start()) + 1
        if not text[line_start : opening.start()].strip():
            return None
    return text
