"""Unions of real intervals in their normal form: disjoint, ascending, none empty."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from dhd.answers.quantity import real_value
from dhd.answers.structure import Interval
from dhd.answers.tree import Expr

_SAME: Final = Fraction(1, 10**40)
"""Relative distance below which two ends are one; irrational ones have 60 digits."""

_Position = Fraction | float


def normal_union(intervals: Sequence[Interval]) -> tuple[Interval, ...] | None:
    """Return the same set as disjoint intervals in ascending order.

    None where an end is no real constant, so that its place is unknown.
    """
    placed: list[tuple[_Position, _Position, Interval]] = []
    for interval in intervals:
        low, high = _position(interval.low, -1), _position(interval.high, 1)
        if low is None or high is None:
            return None
        if not _is_empty(low, high, interval):
            placed.append((low, high, interval))
    placed.sort(key=lambda one: one[0])
    union: list[tuple[_Position, _Position, Interval]] = []
    for one in placed:
        if union and _touch(union[-1], one):
            union[-1] = _joined(union[-1], one)
        else:
            union.append(one)
    return tuple(interval for _, _, interval in union)


def _position(end: Expr | None, side: int) -> _Position | None:
    return side * float("inf") if end is None else real_value(end)


def _same(one: _Position, other: _Position) -> bool:
    if isinstance(one, float) or isinstance(other, float):
        return one == other
    return abs(one - other) <= _SAME * max(abs(one), abs(other))


def _is_empty(low: _Position, high: _Position, interval: Interval) -> bool:
    if _same(low, high):
        return not (interval.low_closed and interval.high_closed)
    return low > high


def _touch(
    first: tuple[_Position, _Position, Interval], second: tuple[_Position, _Position, Interval]
) -> bool:
    """Return whether two intervals, the first beginning no later, make one."""
    if _same(first[1], second[0]):
        return first[2].high_closed or second[2].low_closed or _same(first[0], second[0])
    return second[0] < first[1]


def _joined(
    first: tuple[_Position, _Position, Interval], second: tuple[_Position, _Position, Interval]
) -> tuple[_Position, _Position, Interval]:
    low_closed = first[2].low_closed
    if _same(first[0], second[0]):
        low_closed = low_closed or second[2].low_closed
    end = first if first[1] > second[1] else second
    high_closed = end[2].high_closed
    if _same(first[1], second[1]):
        high_closed = first[2].high_closed or second[2].high_closed
    joined = Interval(first[2].low, end[2].high, low_closed, high_closed)
    return first[0], end[1], joined
