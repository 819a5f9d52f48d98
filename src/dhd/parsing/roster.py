"""Parse a recruiter's output into a roster of distinct expert roles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from dhd.messages import POOL_SIZE, ExpertRole, ParsedRoster, ParseStatus
from dhd.parsing.labels import normalise_key
from dhd.parsing.lenient_json import JsonValue, Number, scan_encoded
from dhd.parsing.reasoning import NoFinalTextError, readable_final_text
from dhd.parsing.roster_text import LENS_KEYS, NAME_KEYS, clean_name, listed_roles, split_role

_LIST_KEYS: Final = frozenset(
    {"roles", "roster", "experts", "expert_roles", "team", "agents", "solvers"}
)
_NUMBERED_KEY = re.compile(r"(?:(?:role|expert|agent|solver|member)_?)?\d{1,2}")
_PLACEHOLDER = re.compile(
    r"<[^<>]*>|\[[^\[\]]*\]|\{[^{}]*\}|\.{2,}|…|(?:role|expert|agent|solver|member)?\s*#?\d*"
    r"|(?:role|expert)?\s*name(?:\s*\d+)?|(?:lens|perspective)\s*\d*|tbd|n/?a|none|null|(?:role|expert|title)\s*[a-e]?",
    re.IGNORECASE,
)
_MAX_NAME: Final = 120
"""Characters; a longer name is a sentence that was mistaken for a role."""


class RosterError(ValueError):
    """An output holds no usable roster; the message says why."""


def parse_roster(
    text: str | None, *, finish_reason: str | None = None, size: int = POOL_SIZE
) -> ParsedRoster:
    """Parse a roster of exactly ``size`` distinct roles out of a recruiter's output.

    Takes JSON (``{"roles": […]}`` of objects or ``"Name: lens"`` strings, ``{"role_1": …}``, a
    bare list, a mapping from name to lens) and numbered or bulleted lists. Names are compared
    without case and white space. Placeholders, empty or nameless roles, several rosters and
    rosters cut at the token limit are refused.

    Parameters
    ----------
    text
        The output; None when the engine found no final text.
    finish_reason
        As the engine reports it; ``length`` makes anything but a complete JSON roster truncated.
    size
        Roles that a roster has.
    """
    cut = finish_reason == "length"
    status: ParseStatus = "truncated" if cut else "invalid_format"
    try:
        final = readable_final_text(text)
        scan = scan_encoded(final)
        if scan.unclosed:
            return ParsedRoster("truncated", reason="unclosed JSON")
        rosters = [roles for value in scan.values if (roles := _roles_of(value)) is not None]
        if not rosters:
            if cut:
                return ParsedRoster(status, reason="cut at the token limit")
            rosters = [listed_roles(final)]
        return ParsedRoster("ok", _checked(_only(rosters), size))
    except (NoFinalTextError, RosterError) as error:
        return ParsedRoster(status, reason=str(error))


def _roles_of(value: JsonValue) -> list[ExpertRole] | None:
    """Return the roles of a JSON value in any of the known forms, None when it is no roster."""
    if isinstance(value, list):
        return [_role(item) for item in value] if value else None
    if not isinstance(value, dict) or not value:
        return None
    keys = {normalise_key(key): key for key in value}
    for name in _LIST_KEYS & keys.keys():
        if isinstance(value[keys[name]], list | dict):
            return _roles_of(value[keys[name]]) or []
    if NAME_KEYS & keys.keys():
        return [_role(value)]
    items = list(value.values())
    if all(_NUMBERED_KEY.fullmatch(key) for key in keys):
        return [_role(item) for item in items]
    if len(items) == 1 and isinstance(items[0], list | dict):
        return _roles_of(items[0])
    if all(isinstance(item, str) for item in items):  # {"Crystallographer": "its lens", …}
        return [ExpertRole(clean_name(key), str(item).strip()) for key, item in value.items()]
    return None


def _role(item: JsonValue) -> ExpertRole:
    if isinstance(item, str) and not isinstance(item, Number):
        return split_role(item)
    if isinstance(item, dict):
        fields = {normalise_key(key): text for key, text in item.items()}
        name = _first_text(fields, NAME_KEYS)
        if name is not None:
            return ExpertRole(clean_name(name), (_first_text(fields, LENS_KEYS) or "").strip())
    raise RosterError("a role without a name")


def _first_text(fields: dict[str, JsonValue], keys: Sequence[str] | frozenset[str]) -> str | None:
    for key, value in fields.items():
        if key in keys and isinstance(value, str) and not isinstance(value, Number):
            return value
    return None


def _only(rosters: list[list[ExpertRole]]) -> list[ExpertRole]:
    if len({tuple(_identity(role.name) for role in roles) for roles in rosters}) > 1:
        raise RosterError(f"{len(rosters)} rosters")
    return rosters[-1]


def _checked(roles: list[ExpertRole], size: int) -> tuple[ExpertRole, ...]:
    for role in roles:
        if not role.name:
            raise RosterError("a role without a name")
        if _PLACEHOLDER.fullmatch(role.name):
            raise RosterError(f"placeholder {role.name!r} instead of a role")
        if len(role.name) > _MAX_NAME:
            raise RosterError(f"a role name of {len(role.name)} characters")
    if len(roles) != size:
        raise RosterError(f"{len(roles)} role{'' if len(roles) == 1 else 's'} instead of {size}")
    if len({_identity(role.name) for role in roles}) != size:
        raise RosterError("a role stands twice in the roster")
    return tuple(roles)


def _identity(name: str) -> str:
    return "".join(name.split()).casefold()
