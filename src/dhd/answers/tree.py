"""Expression trees: what the parser builds and the evaluator reads."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Expr:
    """A node: ``op`` is num, sym, const, add, mul, div, pow, neg, fact, or func.

    ``value`` belongs to num; ``name`` to sym, const and func.
    """

    op: str
    args: tuple[Expr, ...] = ()
    value: Fraction = Fraction(0)
    name: str = ""


def number(value: Fraction | int) -> Expr:
    """Return the node of a rational number."""
    return Expr("num", value=Fraction(value))


def function(name: str, *args: Expr) -> Expr:
    """Return the node of a function's value."""
    return Expr("func", args, name=name)


def symbols(tree: Expr) -> frozenset[str]:
    """Return the names of the free symbols, opaque functions included."""
    if tree.op == "sym":
        return frozenset({tree.name})
    own = {tree.name} if tree.name.startswith("opaque ") else set()
    if tree.op == "func" and tree.name == "log":
        own.add("log")
    return frozenset(own).union(*map(symbols, tree.args))


def rename(tree: Expr, names: dict[str, str]) -> Expr:
    """Return the tree with symbols renamed."""
    if tree.op == "sym":
        return Expr("sym", name=names.get(tree.name, tree.name))
    return Expr(tree.op, tuple(rename(arg, names) for arg in tree.args), tree.value, tree.name)
