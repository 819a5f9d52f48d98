"""Answers in prose without a box or marker: a letter that a sentence settles on, a lone number."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from typing import Final

from dhd.answers.choices import DEFAULT_LETTERS

_BARE_LETTER: Final = r"[(\[*_]{0,3}[A-Z](?![A-Za-z])[)\]*_]{0,3}"
_LETTER: Final = r"[(\[*_]{0,3}([A-Z])[)\]*_]{0,3}"
_AND: Final = r"\s*+(?:,\s*+and\b|,|;|/|&|、|\band\b|\bor\b|和)?+\s*+"
_LETTERS: Final = rf"(?>({_BARE_LETTER}(?:{_AND}{_BARE_LETTER})*|[A-J]{{2,8}}))"
_REASON: Final = r"\b(?:because|since|as|for|due|which|given|(?:is|are) (?:correct|right|the))\b"
_AFTER: Final = rf"(?=\s*(?:$|[.,;:!)\]。，]|\n|{_REASON}))"
_VERB: Final = (
    r"(?:\b(?:must be|has to be|should be|is|are|choose|chose|pick|select|selecting"
    r"|go with|going with|options?|choices?|answers?|opt for)"
    r"|[故应]?选择?项?|答案[是为]?|因此选|所以选)"
    r"\s*+(?:options?\s++|choices?\s++|answer\s++|letter\s++)?+[:：]?+\s*+"
)
_SETTLED: Final = re.compile(_VERB + _LETTER + _AFTER)
_SETTLED_SET: Final = re.compile(_VERB + _LETTERS + _AFTER)
_IS_RIGHT: Final = re.compile(
    rf"(?:^|[\s,.;:]){_LETTER}\s+(?:is|must be)\s+(?:the\s+)?(?:correct|right|best|only|answer)"
)
_NEGATED: Final = re.compile(
    r"(?:\bnot|n't|\bnever|\bwrong|\bexclude[sd]?|\breject(?:ed|s)?|\bunless)\s*(?:be\s+)?$",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"(?<![\w.\\])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w/^])")
_STATED: Final = re.compile(
    r"(?:\b(?:is|are|equals|be|gives|get|total)\b|=)\s*:?\s*$", re.IGNORECASE
)
_UNSURE: Final = re.compile(
    r"\b(?:if|perhaps|maybe|might|could|not|suppose|assume|would)\b|\?", re.IGNORECASE
)
_MAX_PROSE: Final = 160


def choice_in_prose(body: str, options: Sequence[str] | None) -> str | None:
    """Return the last letter that a sentence settles on ("It must be B because …"), or None."""
    valid = string.ascii_uppercase[: len(options) if options else DEFAULT_LETTERS]
    found = [
        (match.start(), match.group(1))
        for pattern in (_SETTLED, _IS_RIGHT)
        for match in pattern.finditer(body)
        if match.group(1) in valid
        and not _NEGATED.search(
            body[max(0, match.start(1) - 40) : match.start(1)].rstrip("([*_ ")[-20:]
        )
    ]
    return max(found)[1] if found else None


def letters_in_prose(body: str) -> str | None:
    """Return the last list of letters that a sentence settles on, as written, or None."""
    found = [
        match.group(1)
        for match in _SETTLED_SET.finditer(body)
        if not _NEGATED.search(body[max(0, match.start(1) - 20) : match.start(1)])
    ]
    return found[-1] if found else None


def number_in_prose(body: str) -> str | None:
    """Return the answer of a short output: the whole if it is no sentence, or its one number."""
    text = body.strip()
    if "\n" in text or len(text) > _MAX_PROSE or "\\boxed" in text:
        return None
    if not re.search(r"[A-Za-z]{2,}\s+[A-Za-z]{2,}", re.sub(r"\\[A-Za-z]+", " ", text)):
        return text
    numbers = list(_NUMBER.finditer(text))
    if len(numbers) != 1 or _UNSURE.search(text):
        return None
    return numbers[0].group() if _STATED.search(text[: numbers[0].start()]) else None
