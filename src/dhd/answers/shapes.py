"""Comparison of mathematical answers shape by shape.

Every function returns True, False, or None where the rules cannot tell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dhd.answers.equality import equal
from dhd.answers.equations import same_equation
from dhd.answers.quantity import real_value
from dhd.answers.real_sets import compare_inequalities, compare_real_sets
from dhd.answers.structure import (
    Answer,
    Based,
    Equation,
    Inequality,
    Matrix,
    Opaque,
    Ratio,
    RealSet,
    Scalar,
    Sequence,
)
from dhd.answers.tree import rename
from dhd.answers.values import compare_based, compare_ratios, compare_scalars
from dhd.answers.verdicts import Verdict, all_of, any_of

_MAX_ITEMS: Final = 40


def compare_readings(gold: tuple[Answer, ...], submitted: tuple[Answer, ...]) -> Verdict:
    """Compare all readings: True if any pair agrees, False if every pair differs."""
    verdicts = [compare_shapes(one, other) for one in gold for other in submitted]
    if True in verdicts:
        return True
    return None if None in verdicts else False


def compare_shapes(gold: Answer, submitted: Answer) -> Verdict:
    """Compare two answers of any shape."""
    if isinstance(gold, Opaque) or isinstance(submitted, Opaque):
        return None
    if isinstance(gold, Equation) or isinstance(submitted, Equation):
        return _equations(gold, submitted)
    for shape, rule in _RULES:
        if isinstance(gold, shape) or isinstance(submitted, shape):
            return rule(gold, submitted)
    return None


def _equations(gold: Answer, submitted: Answer) -> Verdict:
    if isinstance(gold, Equation) and isinstance(submitted, Equation):
        return _two_equations(gold, submitted)
    equation, other = (gold, submitted) if isinstance(gold, Equation) else (submitted, gold)
    if not isinstance(equation, Equation) or isinstance(other, Inequality):
        return None
    if equation.name:
        verdict = compare_shapes(equation.right, other)
        # A function's rule may be written in another variable on its own.
        return None if equation.argument and verdict is not True else verdict
    if equation.left is not None and isinstance(equation.right, Scalar):
        value = real_value(equation.left)
        if value is not None and value == real_value(equation.right.tree):
            return compare_shapes(equation.right, other)
    return None


def _two_equations(gold: Equation, submitted: Equation) -> Verdict:
    if gold.argument and submitted.argument:
        return _functions(gold, submitted)
    if gold.name and gold.name == submitted.name:
        verdict = compare_shapes(gold.right, submitted.right)
        if verdict is not None or not isinstance(gold.right, Scalar):
            return verdict
    elif gold.name and submitted.name and not _has_symbols(gold.right, submitted.right):
        return False if compare_shapes(gold.right, submitted.right) is False else None
    if not (isinstance(gold.right, Scalar) and isinstance(submitted.right, Scalar)):
        return None
    if gold.left is None or submitted.left is None or gold.right.mark or submitted.right.mark:
        return None
    return same_equation((gold.left, gold.right.tree), (submitted.left, submitted.right.tree))


def _has_symbols(*answers: Answer) -> bool:
    return any(not isinstance(one, Scalar) or real_value(one.tree) is None for one in answers)


def _functions(gold: Equation, submitted: Equation) -> Verdict:
    """Compare ``f(n) = …`` with ``f(x) = …``: the bound variable's name does not matter."""
    if not (isinstance(gold.right, Scalar) and isinstance(submitted.right, Scalar)):
        return None
    theirs = rename(gold.right.tree, {gold.argument: "bound variable"})
    ours = rename(submitted.right.tree, {submitted.argument: "bound variable"})
    verdict = equal(theirs, ours)
    return verdict if gold.name == submitted.name else None


def _sequences(gold: Answer, submitted: Answer) -> Verdict:
    if isinstance(gold, RealSet) or isinstance(submitted, RealSet):
        return compare_real_sets(gold, submitted)
    one, other = _as_sequence(gold), _as_sequence(submitted)
    if one is None or other is None:
        return None
    kinds = {one.kind, other.kind}
    if kinds == {"tuple", "bracket"} or kinds == {"set", "tuple"} or kinds == {"set", "bracket"}:
        return _mixed_brackets(one, other)
    if len(one.items) > _MAX_ITEMS or len(other.items) > _MAX_ITEMS:
        return None
    if kinds <= {"tuple", "bracket"}:
        return _in_order(one, other)
    if kinds & {"tuple", "bracket"}:
        return _list_and_tuple(one, other)
    if (verdicts := _by_name(one, other)) is not None:
        return all_of(verdicts)
    if kinds == {"list"} and len(one.items) != len(other.items):
        known = all_known(one) and all_known(other)
        return False if known and _as_sets(one, other) is False else None
    return _as_sets(one, other)


def _by_name(one: Sequence, other: Sequence) -> list[Verdict] | None:
    """Compare ``x=1, y=2`` with ``y=2, x=1`` name by name; None if they are no such lists."""
    tables = []
    for sequence in (one, other):
        named = {item.name: item for item in sequence.items if isinstance(item, Equation)}
        if "" in named or len(named) != len(sequence.items):
            return None
        tables.append(named)
    if len(tables[0]) < 2 or set(tables[0]) != set(tables[1]):
        return None
    return [compare_shapes(item, tables[1][name]) for name, item in tables[0].items()]


def _as_sequence(answer: Answer) -> Sequence | None:
    if isinstance(answer, Sequence):
        return answer
    return Sequence("list", (answer,))


def all_known(sequence: Sequence) -> bool:
    """Whether every item of a sequence is a value, and none a condition or unknown."""
    return not any(isinstance(item, Opaque | RealSet | Inequality) for item in sequence.items)


def _mixed_brackets(one: Sequence, other: Sequence) -> Verdict:
    """Compare sequences in unlike brackets: ``[0, 1]`` is not ``(0, 1)``; a set has no order."""
    if "set" not in (one.kind, other.kind):
        return False if len(one.items) == 2 or _in_order(one, other) is False else None
    return False if _as_sets(one, other) is False else None


def _in_order(one: Sequence, other: Sequence) -> Verdict:
    if len(one.items) != len(other.items):
        return False if all_known(one) and all_known(other) else None
    return all_of(map(compare_shapes, one.items, other.items))


def _list_and_tuple(one: Sequence, other: Sequence) -> Verdict:
    """Compare ``0, 2`` with ``(0, 2)``: brackets left out, or one point among several."""
    plain, tuple_ = (one, other) if one.kind in ("list", "set") else (other, one)
    if any(isinstance(item, Sequence) for item in plain.items):
        return False if len(plain.items) > 1 else _in_order(plain, Sequence("list", (tuple_,)))
    return _in_order(plain, tuple_)


def _as_sets(one: Sequence, other: Sequence) -> Verdict:
    table = [[compare_shapes(left, right) for right in other.items] for left in one.items]
    rows = all_of(any_of(row) for row in table)
    columns = all_of(any_of([row[index] for row in table]) for index in range(len(other.items)))
    verdict = all_of((rows, columns))
    if (
        verdict is True
        and len(one.items) != len(other.items)
        and "set" not in (one.kind, other.kind)
    ):
        return None
    return verdict


def _matrices(gold: Answer, submitted: Answer) -> Verdict:
    one, other = _rows(gold), _rows(submitted)
    if one is None or other is None:
        return None
    if [len(row) for row in one] != [len(row) for row in other]:
        flat = [item for row in one for item in row], [item for row in other for item in row]
        return None if len(flat[0]) == len(flat[1]) else False
    return all_of(
        compare_shapes(a, b)
        for x, y in zip(one, other, strict=True)
        for a, b in zip(x, y, strict=True)
    )


def _rows(answer: Answer) -> tuple[tuple[Answer, ...], ...] | None:
    if isinstance(answer, Matrix):
        return answer.rows
    if isinstance(answer, Sequence) and answer.kind in ("tuple", "bracket"):
        return tuple((item,) for item in answer.items)
    return None


_RULES: Final[tuple[tuple[type, Callable[[Answer, Answer], Verdict]], ...]] = (
    (Matrix, _matrices),
    (Inequality, compare_inequalities),
    (Ratio, compare_ratios),
    (Based, compare_based),
    (RealSet, compare_real_sets),
    (Sequence, _sequences),
    (Scalar, compare_scalars),
)
