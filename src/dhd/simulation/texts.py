"""What simulated models write: rosters, messages, work, verdicts, and outputs gone wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dhd.messages import POOL_SIZE
from dhd.simulation.reading import ROUTE_WORD

_ROLES: Final = (
    ("Dimensional Analyst", "checks units and orders of magnitude before any formula"),
    ("Symmetry Specialist", "looks for invariants and for what an exchange leaves unchanged"),
    ("Limiting-Case Tester", "tries extreme values of every quantity and watches the result"),
    ("Direct Calculator", "carries the computation through step by step, without shortcuts"),
    ("Counterexample Hunter", "tries to break each claim with a small concrete case"),
    ("Definition Checker", "reads every term as the problem defines it, not as usual"),
    ("Estimator", "bounds the result from both sides before computing it"),
    ("Mechanism Modeller", "writes down the governing relations and what feeds each of them"),
    ("Backward Solver", "starts from each possible result and asks what it would require"),
    ("Bookkeeper", "tracks what is counted once, twice or not at all"),
    ("Assumption Auditor", "lists what is taken for granted and what happens without it"),
    ("Diagram Drafter", "draws the situation and reads relations off the picture"),
)
_DIRECTIONS: Final = (
    "name the unknown, write one relation for each statement, and eliminate all but the unknown",
    "take the case with the smallest numbers first, see the pattern, and carry it over",
    "split what is asked into two parts that do not interfere, and add up at the end",
    "follow the quantity that stays the same from start to end and express the rest by it",
    "work with rates instead of amounts, and turn back to amounts in the last step",
    "list what is possible, cross out what a statement forbids, and keep what is left",
)
_IDEAS: Final = (
    "the total does not change while its parts do",
    "both statements describe one and the same quantity",
    "the last step is the only one in which the order matters",
    "each part contributes in proportion to its own rate",
    "what looks like two conditions is one condition said twice",
)
_ASSUMPTIONS: Final = (
    "nothing is lost between the steps",
    "the statements hold at all times, not only at the beginning",
    "every object is counted exactly once",
    "the stated values are exact",
)
_CHECKS: Final = (
    "put the result back into the first statement and compare both sides",
    "repeat the last step with rounded numbers and see whether the size agrees",
    "count the smallest case by hand",
    "compare the unit of the result with the unit that is asked for",
)
_WORK: Final = (
    "I set up the relation from the statement and solved it on my own first. ",
    "I wrote down what is given and what is asked, and solved for the unknown. ",
    "I worked the smallest case, then the stated one. ",
)
_COMPARED: Final = (
    "Then I compared the messages with it: one step in them is used, the others add nothing.",
    "The messages differ in one step; I repeated that step and kept what holds.",
    "I tested the assumption that the messages share; it decides between their answers.",
)
_ALONE: Final = (
    "A check with rounded numbers gives the same size.",
    "Putting the result back into the statement agrees.",
)
HINTS: Final = (
    "One quantity seems to be counted twice; go through the parts once more.",
    "The size is plausible, but a factor is missing in one of the steps.",
    "The form of the answer is not the one that is asked for.",
    "A case was left out; look at what happens at the end of the range.",
)
"""What an evaluator says of a rejected answer: never anything of the reference."""

_LEVELS: Final = ("very low", "low", "medium", "high", "very high")
PROSE: Final = (
    "I looked at the question from several sides, and it seems to me that more should be known "
    "before anything is said. It could be one thing or another"
)
"""An output that has no form at all."""


def pick(uniform: float, texts: Sequence[str]) -> str:
    """Return one of some texts."""
    return texts[int(uniform * len(texts))]


def roster(uniform: float) -> list[tuple[str, str]]:
    """Return five different roles, each a name and a lens."""
    size = len(_ROLES)
    start, step = divmod(int(uniform * size * 2), 2)
    stride = (1, 5)[step]
    return [_ROLES[(start + stride * place) % size] for place in range(POOL_SIZE)]


def direction(route: str, uniform: float) -> str:
    """Return a message's reasoning direction; it carries the code of its route."""
    return f"{ROUTE_WORD}{route}: {pick(uniform, _DIRECTIONS)}."


def idea(uniform: float) -> str:
    """Return a message's key idea."""
    return f"The one thing to see is that {pick(uniform, _IDEAS)}."


def assumption(uniform: float) -> str:
    """Return a message's critical assumption."""
    return f"It is assumed that {pick(uniform, _ASSUMPTIONS)}."


def check(uniform: float) -> str:
    """Return a message's check."""
    return f"Before trusting this, {pick(uniform, _CHECKS)}."


def confidence(uniform: float, *, is_right: bool, levels: Sequence[str] = _LEVELS) -> str:
    """Return a self-report; right answers are stated a little more surely."""
    lean = uniform**0.6 if is_right else uniform**0.9
    return levels[min(int(lean * len(levels)), len(levels) - 1)]


def work(uniform: float, *, messages: int) -> str:
    """Return an integrator's brief reasoning."""
    ending = pick(uniform, _COMPARED if messages else _ALONE)
    return pick(uniform, _WORK) + ending
