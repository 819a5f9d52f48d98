"""Read labelled sections: markdown headings, bold labels and YAML-style lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_LEAD = re.compile(r"(?:[-*+•>]\s+|\d{1,2}[.)]\s+)?+")
_HEADING = re.compile(r"#{1,6}\s*+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_KEY_NOISE = re.compile(r"[\\*`\"'“”]+")
_KEY_GAP = re.compile(r"[\s_\-]+")
_SEPARATOR = re.compile(r"\s*+(?:[*_`]{1,3})?\s*+[:\uff1a]\s*+(?:(?:\*\*|__)(?=\s|$))?\s*+")
_BLOCK_SCALAR = re.compile(r"[|>][+-]?\s*\n")
_MAX_LABEL: Final = 60
_BOLD: Final = ("**", "__")
_QUOTES: Final = ('"', "'")


def normalise_key(key: str) -> str:
    r"""Return a key in snake case: ``Proposed Answer``, ``proposed\_answer``, ``myAnswer``."""
    key = _CAMEL.sub("_", _KEY_NOISE.sub("", key).strip())
    return _KEY_GAP.sub("_", key).strip("_").casefold()


def labelled_line(line: str) -> tuple[str, str] | None:
    """Return the normalised label and the rest of a line, or None when it has no label.

    A label stands at the start of a line, with a colon behind it, or alone in a heading or in bold.
    """
    stripped = line.strip()
    stripped = stripped[_end(_LEAD, stripped) :]
    heading_end = _end(_HEADING, stripped)
    stripped = stripped[heading_end:]
    separator = _SEPARATOR.search(stripped, 0, _MAX_LABEL + 8)
    if separator is not None:
        return normalise_key(stripped[: separator.start()]), stripped[separator.end() :]
    bold = stripped.startswith(_BOLD) and stripped.endswith(_BOLD)
    if len(stripped) <= _MAX_LABEL and (heading_end or bold):
        return normalise_key(stripped), ""
    return None


def labelled_sections(text: str, is_label: Callable[[str], bool]) -> list[tuple[str, str]]:
    """Return (label, content) in order; content runs to the next line that has a known label."""
    sections: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        found = labelled_line(line)
        if found is not None and is_label(found[0]):
            sections.append((found[0], [found[1]]))
        elif sections:
            sections[-1][1].append(line)
    return [(label, _clean("\n".join(lines))) for label, lines in sections]


def _clean(content: str) -> str:
    """Trim a section; drop a YAML block indicator and one pair of quotes around all of it."""
    content = content.strip()
    block = _BLOCK_SCALAR.match(content)
    if block is not None:
        return content[block.end() :].strip()
    quoted = len(content) > 1 and content[0] in _QUOTES and content[-1] == content[0]
    if quoted and content[0] not in content[1:-1]:
        return content[1:-1].strip()
    return content


def _end(pattern: re.Pattern[str], text: str) -> int:
    match = pattern.match(text)
    return 0 if match is None else match.end()
