"""Comparison of real sets and inequalities."""

from __future__ import annotations

from dhd.answers.equality import equal
from dhd.answers.equations import same_inequality
from dhd.answers.structure import Answer, Inequality, Interval, RealSet, Scalar, Sequence
from dhd.answers.tree import Expr
from dhd.answers.unions import normal_union
from dhd.answers.verdicts import Verdict, all_of, any_of


def compare_real_sets(gold: Answer, submitted: Answer) -> Verdict:
    """Compare unions of intervals, each end open or closed; pairs count as intervals."""
    one, other = _as_real_set(gold), _as_real_set(submitted)
    if one is None or other is None:
        return None
    if len(one.intervals) > 8 or len(other.intervals) > 8:
        return None
    left, right = normal_union(one.intervals), normal_union(other.intervals)
    if left is None or right is None:  # ends with symbols: only as they are written
        left, right = one.intervals, other.intervals
        if len(left) != len(right):
            return None
    if len(left) != len(right):
        return False
    table = [[_intervals(a, b) for b in right] for a in left]
    rows = all_of(any_of(row) for row in table)
    columns = all_of(any_of([row[index] for row in table]) for index in range(len(right)))
    verdict = all_of((rows, columns))
    if verdict is True and one.variable and other.variable and one.variable != other.variable:
        return None
    return verdict


def _as_real_set(answer: Answer) -> RealSet | None:
    if isinstance(answer, RealSet):
        return answer
    if (
        not isinstance(answer, Sequence)
        or answer.kind not in ("tuple", "bracket")
        or len(answer.items) != 2
    ):
        return None
    low, high = answer.items
    if not (isinstance(low, Scalar) and isinstance(high, Scalar)) or low.mark or high.mark:
        return None
    closed = answer.kind == "bracket"
    return RealSet((Interval(low.tree, high.tree, closed, closed),))


def _intervals(one: Interval, other: Interval) -> Verdict:
    if (one.low_closed, one.high_closed) != (other.low_closed, other.high_closed):
        return False
    return all_of((_ends(one.low, other.low), _ends(one.high, other.high)))


def _ends(one: Expr | None, other: Expr | None) -> Verdict:
    if one is None or other is None:
        return one is other
    return equal(one, other)


def compare_inequalities(gold: Answer, submitted: Answer) -> Verdict:
    """Compare inequalities, solved for a variable or not."""
    one, other = _as_inequality(gold), _as_inequality(submitted)
    if one is None or other is None:
        return None
    return same_inequality(
        (one.left, one.right, one.strict), (other.left, other.right, other.strict)
    )


def _as_inequality(answer: Answer) -> Inequality | None:
    """Return an inequality, written out again where it was read as a set of reals."""
    if isinstance(answer, Inequality):
        return answer
    if not isinstance(answer, RealSet) or len(answer.intervals) != 1 or not answer.variable:
        return None
    interval = answer.intervals[0]
    variable = Expr("sym", name=answer.variable)
    if interval.low is None and interval.high is not None:
        return Inequality(variable, interval.high, not interval.high_closed)
    if interval.high is None and interval.low is not None:
        return Inequality(interval.low, variable, not interval.low_closed)
    return None
