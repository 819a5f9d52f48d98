"""Scanning of brackets: what stands at the top level of a text."""

from __future__ import annotations

import re


def levels(text: str) -> list[int]:
    r"""Return the bracket depth before each character; ``\{`` counts like ``(``.

    A bracket may be closed by one of another kind, as in half-open intervals.
    """
    depth = 0
    result: list[int] = []
    for char in text:
        result.append(depth)
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
    return result


def split_top(text: str, pattern: str) -> list[str]:
    """Split a text at the matches of a pattern that stand outside all brackets; strips parts."""
    depth = levels(text)
    parts: list[str] = []
    start = 0
    for match in re.finditer(pattern, text):
        if depth[match.start()] == 0:
            parts.append(text[start : match.start()].strip())
            start = match.end()
    parts.append(text[start:].strip())
    return parts


def strip_outer(text: str) -> str:
    """Remove one pair of braces that enclose the whole text, and white space around it."""
    text = text.strip()
    while len(text) > 2 and text[0] == "{" and text[-1] == "}" and text[-2] != "\\":
        inner = text[1:-1]
        if min(levels(inner), default=0) < 0 or "," in inner:
            break
        text = inner.strip()
    return text
