r"""Reading of real sets: intervals, unions, solved inequalities, and complements of points."""

from __future__ import annotations

import re
from itertools import pairwise
from operator import itemgetter
from typing import Final

from dhd.answers.expression import parse_expression
from dhd.answers.quantity import real_value
from dhd.answers.scan import levels, split_top
from dhd.answers.structure import Interval, RealSet
from dhd.answers.tokens import ParseError
from dhd.answers.tree import Expr

_ALL: Final = re.compile(
    r"^(?:all\s+(?:the\s+)?reals?(?:\s+numbers?)?|\\Reals|every\s+real\s+number|any\s+real\s+number)$",
    re.IGNORECASE,
)
_EXCEPT: Final = re.compile(
    r"^(?:all\s+(?:the\s+)?reals?(?:\s+numbers?)?|\\Reals)\s*(?:[A-Za-z]\s*)?"
    r"(?:except(?:\s+for)?|but|other\s+than|excluding|not\s+equal\s+to|\\setminus|\\backslash|-|\\ne)\s*"
    r"(?:[A-Za-z]\s*=\s*)?(.+)$",
    re.IGNORECASE,
)
_MEMBER: Final = re.compile(r"^([A-Za-z]|\\[a-z]+)\s*\\in(?![a-z])\s*(.+)$")
_RELATION: Final = re.compile(r"(<=|>=|<|>|\\le(?![a-zA-Z])|\\ge(?![a-zA-Z])|\\ne(?![a-zA-Z])|!=)")
_VARIABLE: Final = re.compile(r"^(?:[a-zA-Z]|\\(?:alpha|beta|theta|lambda|mu|phi))(?:_\{?\w\}?)?$")
_LESS: Final = {"<": False, "<=": True, r"\le": True}
_GREATER: Final = {">": False, ">=": True, r"\ge": True}
_INFINITE: Final = {r"\infty": 1, r"+\infty": 1, r"-\infty": -1, "inf": 1, "+inf": 1, "-inf": -1,
                    "infinity": 1, "+infinity": 1, "-infinity": -1, "oo": 1, "-oo": -1}  # fmt: skip
EVERYTHING: Final = RealSet((Interval(None, None),))


def parse_real_set(text: str) -> RealSet | None:
    """Read a real set that cannot be meant as a pair of numbers, or None.

    ``(1, 2)`` alone is left to the caller: it may be a point. An interval with an infinite end,
    half-open brackets, a union, or an inequality solved for its variable is a set for certain.
    """
    member = _MEMBER.match(text)
    if member is not None:
        inner = _union(member.group(2)) or interval_of_pair(member.group(2))
        return None if inner is None else RealSet(inner.intervals, member.group(1))
    return _union(text)


def _union(text: str) -> RealSet | None:
    if _ALL.match(text):
        return EVERYTHING
    if (excepted := _EXCEPT.match(text)) is not None:
        return _complement(excepted.group(1))
    parts = split_top(text, r"\\cup(?![a-z])|\sU\s|\sor\s")
    if len(parts) == 1:
        return _one(text)
    sets = [_one(part) or interval_of_pair(part) for part in parts]
    known = [one for one in sets if one is not None]
    variables = {one.variable for one in known}
    if len(known) < len(sets) or len(variables) != 1:
        return None
    return RealSet(tuple(interval for one in known for interval in one.intervals), variables.pop())


def _complement(text: str) -> RealSet | None:
    inner = text.strip().removeprefix("\\{").removesuffix("\\}").strip("{} ")
    trees = [_tree(part) for part in re.split(r",\s*(?:and\s+)?|\s+and\s+", inner)]
    points = [tree for tree in trees if tree is not None]
    if not points or len(points) < len(trees):
        return None
    values = [real_value(point) for point in points]
    if None not in values:
        points = [point for _, point in sorted(zip(values, points, strict=True), key=itemgetter(0))]
    ends: list[Expr | None] = [None, *points, None]
    return RealSet(tuple(Interval(low, high) for low, high in pairwise(ends)))


def _one(text: str) -> RealSet | None:
    if any(_RELATION.finditer(text)):
        return _inequality(text)
    pair = interval_of_pair(text)
    if pair is None:
        return None
    interval = pair.intervals[0]
    certain = (
        interval.low is None or interval.high is None or interval.low_closed != interval.high_closed
    )
    return pair if certain else None


def interval_of_pair(text: str) -> RealSet | None:
    """Read a bracketed pair as an interval: ``(1, 2]``, ``[0, 1]``, ``]0, 1[``."""
    text = text.strip()
    if len(text) < 5 or text[0] not in "([]" or text[-1] not in ")][":
        return None
    inner = text[1:-1]
    if min(levels(inner + " ")) < 0:
        return None
    parts = split_top(inner, "[,;]")
    if len(parts) != 2:
        return None
    low, high = _end(parts[0], -1), _end(parts[1], 1)
    if low == "bad" or high == "bad":
        return None
    closed = (text[0] == "[" and low is not None, text[-1] == "]" and high is not None)
    return RealSet((Interval(_as_tree(low), _as_tree(high), *closed),))


def _end(text: str, side: int) -> Expr | str | None:
    sign = _INFINITE.get("".join(text.split()))
    if sign is not None:
        return None if sign == side else "bad"
    return _tree(text) or "bad"


def _as_tree(end: Expr | str | None) -> Expr | None:
    return end if isinstance(end, Expr) else None


def _inequality(text: str) -> RealSet | None:
    pieces = [piece.strip() for piece in _RELATION.split(text)]
    if len(pieces) == 5:
        return _double(pieces)
    if len(pieces) != 3:
        return None
    left, sign, right = pieces
    if _VARIABLE.match(right) and not _VARIABLE.match(left):
        left, right = right, left
        sign = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", r"\le": r"\ge", r"\ge": r"\le"}.get(
            sign, sign
        )
    bound = _tree(right)
    if not _VARIABLE.match(left) or bound is None:
        return None
    if sign in _LESS:
        return RealSet((Interval(None, bound, high_closed=_LESS[sign]),), left)
    if sign in _GREATER:
        return RealSet((Interval(bound, None, low_closed=_GREATER[sign]),), left)
    return RealSet((Interval(None, bound), Interval(bound, None)), left)


def _double(pieces: list[str]) -> RealSet | None:
    low, first, variable, second, high = pieces
    if first in _GREATER and second in _GREATER:
        closed = _GREATER[second], _GREATER[first]
        low, high = high, low
    elif first in _LESS and second in _LESS:
        closed = _LESS[first], _LESS[second]
    else:
        return None
    ends = _end(low, -1), _end(high, 1)
    if not _VARIABLE.match(variable) or "bad" in ends:
        return None
    low_closed, high_closed = closed
    trees = _as_tree(ends[0]), _as_tree(ends[1])
    return RealSet(
        (
            Interval(
                *trees, low_closed and trees[0] is not None, high_closed and trees[1] is not None
            ),
        ),
        variable,
    )


def _tree(text: str) -> Expr | None:
    try:
        return parse_expression(text)
    except ParseError:
        return None
