"""Read roles from numbered or bulleted lists and from ``Name: lens`` texts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from dhd.messages import ExpertRole
from dhd.parsing.labels import labelled_line

NAME_KEYS: Final = frozenset(
    {"name", "role", "expert", "title", "role_name", "expert_name", "role_title", "expert_role"}
)
LENS_KEYS: Final = frozenset(
    {
        *("lens", "perspective", "focus", "description", "expertise", "task", "approach"),
        *("role_lens", "rationale", "responsibility", "viewpoint"),
    }
)

_NUMBER = re.compile(
    r"(?P<indent>\s*+)(?:#{1,6}\s*+)?(?:\*\*|__)?\(?"
    r"(?:(?:role|expert|agent|solver|member)\s*+#?)?(?P<number>\d{1,2})\s*+"
    r"(?:[.)\]:\uff1a]|\s[-–—](?=\s))(?P<body>(?!\d).*+)",
    re.IGNORECASE,
)
_BULLET = re.compile(r"(?P<indent>\s*+)[-*+•‣–](?P<body>\s.*+|$)")
_BOLD = re.compile(r"(?:\*\*|__)(?P<name>[^\n]{1,400}?)(?:\*\*|__)")
_SPLIT = re.compile(
    r"(?:\*\*|__)?\s?[:\uff1a](?:\*\*|__)?(?:\s|$)|\s[-–—]{1,2}\s|\s?—\s?|\s(?P<bracket>\()"
)
_SPLIT_WITHIN: Final = 400
"""Characters in which a name must end; it keeps the search short on hostile text."""
_ROLE_LABEL = re.compile(
    r"(?:role|expert|agent|solver|member)\s*#?\d*\s*(?:[:\uff1a]|\s[-–—]\s)\s*(?=\S)", re.IGNORECASE
)
_DECORATION: Final = " \t\r\n*_`\"'“”"
_SPACE_AND_QUOTES: Final = " \t\r\n`\"'“”"


@dataclass(slots=True)
class _Item:
    indent: int
    body: str
    numbered: bool
    continuation: list[str] = field(default_factory=list)


def clean_name(name: str) -> str:
    r"""Return a role name on one line, without markdown, quotes or closing punctuation."""
    name = " ".join(name.replace("\\_", "_").split())
    return name.strip(_DECORATION).rstrip(".,;:").strip(_DECORATION)


def split_role(text: str) -> ExpertRole:
    """Split ``Name: lens`` (also with a spaced dash, or the name in bold) into a role."""
    text = text.strip(_SPACE_AND_QUOTES)
    label = _ROLE_LABEL.match(text)  # at the start only: "Optics Expert: …" is a name
    text = text if label is None else text[label.end() :]
    bold = _BOLD.match(text)
    if bold is not None and not _SPLIT.search(bold["name"].rstrip(": \t"), 0, _SPLIT_WITHIN):
        return ExpertRole(clean_name(bold["name"]), _clean_lens(text[bold.end() :]))
    split = _SPLIT.search(text, 0, _SPLIT_WITHIN)
    if split is None:
        return ExpertRole(clean_name(text))
    lens = text[split.end() :]
    if split["bracket"]:
        lens = lens.replace(")", "", 1) if lens.count(")") > lens.count("(") else lens
    return ExpertRole(clean_name(text[: split.start()]), _clean_lens(lens))


def listed_roles(text: str) -> list[ExpertRole]:
    """Return the roles of a numbered list, else of the outermost bullets, else of labelled lines.

    Lines that follow an item, nested bullets included, belong to its lens.
    """
    items, loose = _items(text)
    if not items:
        return _labelled_roles(loose)
    return [_role_of(item) for item in items]


def _items(text: str) -> tuple[list[_Item], list[str]]:
    """Return the items of the outermost list and the lines before it."""
    found = [(line, _item(line)) for line in text.splitlines()]
    items = [item for _, item in found if item is not None]
    numbered = any(item.numbered for item in items)
    indents = [item.indent for item in items if item.numbered == numbered]
    # One column more is a list whose numbers are aligned to the right.
    deepest = min(indents, default=0) + 1
    outer: list[_Item] = []
    loose: list[str] = []
    for line, item in found:
        if item is not None and item.numbered == numbered and item.indent <= deepest:
            outer.append(item)
        else:
            (outer[-1].continuation if outer else loose).append(line)
    if outer:  # a paragraph behind the list belongs to no role
        outer[-1].continuation = list(takewhile(str.strip, outer[-1].continuation))
    return outer, loose


def _item(line: str) -> _Item | None:
    match = _NUMBER.fullmatch(line)
    numbered = match is not None
    match = match or _BULLET.fullmatch(line)
    if match is None:
        return None
    return _Item(len(match["indent"].expandtabs(4)), match["body"].strip(), numbered)


def _role_of(item: _Item) -> ExpertRole:
    following = "\n".join(item.continuation).strip()
    labelled = labelled_line(item.body)
    if labelled is not None and labelled[0] in NAME_KEYS:
        role = split_role(labelled[1])
    else:
        role = split_role(item.body)
    return role if role.lens else ExpertRole(role.name, _labelled_lens(following))


def _labelled_lens(following: str) -> str:
    """Return the lines behind an item as its lens, up to the first blank line."""
    lines = following.split("\n\n", maxsplit=1)[0].splitlines()
    labelled = labelled_line(lines[0]) if lines else None
    if labelled is not None and labelled[0] in LENS_KEYS:
        lines[0] = labelled[1]
    return "\n".join(lines).strip()


def _labelled_roles(lines: list[str]) -> list[ExpertRole]:
    """Return the roles of lines such as ``expert_name: Crystallographer``, lens lines between."""
    roles: list[ExpertRole] = []
    for line in lines:
        labelled = labelled_line(line)
        if labelled is None:
            continue
        if labelled[0] in NAME_KEYS:
            roles.append(split_role(labelled[1]))
        elif labelled[0] in LENS_KEYS and roles:
            roles[-1] = ExpertRole(roles[-1].name, _clean_lens(labelled[1]))
    return roles


def _clean_lens(lens: str) -> str:
    return lens.strip().lstrip(":\uff1a-–—*_ \t").rstrip("*_ \t").strip()
