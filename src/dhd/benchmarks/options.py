"""Option texts: read from a question, shuffled reproducibly, found again in a shown text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from string import ascii_uppercase

#: ``(A)`` or ``[A]`` at the start of a line (JEEBench).
LINE_MARKER = re.compile(r"^[ \t]*(?:\(([A-D])\)|\[([A-D])\])", re.MULTILINE)
#: ``(A)`` after white space or a colon (MaScQA); ``P(A)`` and ``$X_(A)$`` are no markers.
INLINE_MARKER = re.compile(r"(?<![^\s:])\(([A-D])\)")

#: What the notes say of choice problems without ``options``.
UNCERTAIN_OPTIONS = "choice problems whose option texts are not certain, compared by letter"


def parse_options(text: str, marker: re.Pattern[str]) -> tuple[str, ...] | None:
    """Return the four option texts that end a question, or None where they are not certain.

    They are certain when the last four markers are A, B, C, D in this order, and four
    different texts, none of them empty, follow them. The question itself is left as it is.
    """
    marks = list(marker.finditer(text))[-4:]
    if "".join(mark[mark.lastindex or 0] for mark in marks) != "ABCD":
        return None
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    options = tuple(text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True))
    return options if all(options) and len(set(options)) == len(options) else None


def shows_options(text: str, options: Sequence[str]) -> bool:
    """Tell whether a text already shows the options, each after its own ``(A)`` or ``[A]``.

    JEEBench and MaScQA questions do; those of LAB-Bench and of users usually do not, and
    need the options appended to be answerable.
    """
    position = 0
    for letter, option in zip(ascii_uppercase, options, strict=False):
        found = re.compile(rf"[(\[]{letter}[)\]]\s*{re.escape(option)}").search(text, position)
        if found is None:
            return False
        position = found.end()
    return True


def shuffle_options(row_id: str, ideal: str, options: Iterable[str]) -> tuple[str, ...]:
    """Return the options in an order that follows from row id and ideal answer alone.

    Each option's place is the rank of a hash, so the order depends neither on the order
    given nor on a random number generator, and is the same on every machine.
    """

    def rank(option: str) -> str:
        return hashlib.sha256("\x1f".join((row_id, ideal, option)).encode()).hexdigest()

    return tuple(sorted(options, key=rank))


def letter_of(option: str, options: Sequence[str]) -> str:
    """Return the letter of an option, A for the first."""
    return ascii_uppercase[options.index(option)]
