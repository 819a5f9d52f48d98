"""Choosing the messages whose parts are masked, before any masking call (Appendix H)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dhd.studies.draws import hashed


@dataclass(frozen=True, slots=True)
class Case:
    """A message that is or may be masked, with its category from the controlled repeats."""

    category: str
    benchmark: str
    problem_uid: str
    message_index: int


def choose_cases(
    candidates: Iterable[Case],
    wanted: Mapping[str, int],
    *,
    seed: int,
    label: str,
    earlier: Iterable[Case] = (),
) -> tuple[Case, ...]:
    """Choose the wanted number of messages of each category.

    One after the other, each from the benchmark that has given the fewest of its category so
    far, then the fewest in all, so that a category spans as many benchmarks as it can;
    messages of problems that have no case yet come first. What remains open, the seed decides.

    Parameters
    ----------
    candidates
        Messages with their categories.
    wanted
        Messages of each category; a category with too few candidates gives all it has.
    seed, label
        What the choice follows from; ``label`` names the family.
    earlier
        Cases of an earlier choice. They stay, in the category that they had then, as far as
        their number is wanted; only what lacks is chosen.

    Returns
    -------
    Category by category in the order of ``wanted``.
    """
    before = list(earlier)
    chosen = [
        one
        for category, count in wanted.items()
        for one in [case for case in before if case.category == category][:count]
    ]
    taken = {message_of(case) for case in chosen}
    pools: dict[str, set[Case]] = {category: set() for category in wanted}
    for candidate in candidates:
        if candidate.category in pools and message_of(candidate) not in taken:
            pools[candidate.category].add(candidate)
    given = Counter(case.category for case in chosen)
    for category, count in wanted.items():
        left = pools[category]
        for _ in range(min(count - given[category], len(left))):
            picked = _next_case(left, chosen, seed, label)
            left.remove(picked)
            chosen.append(picked)
    places = {category: place for place, category in enumerate(wanted)}
    return tuple(sorted(chosen, key=lambda case: places[case.category]))


def message_of(case: Case) -> tuple[str, int]:
    """Return what identifies a case's message within its family."""
    return case.problem_uid, case.message_index


def _next_case(left: Iterable[Case], chosen: list[Case], seed: int, label: str) -> Case:
    of_category = Counter((case.category, case.benchmark) for case in chosen)
    of_benchmark = Counter(case.benchmark for case in chosen)
    of_problem = Counter((case.benchmark, case.problem_uid) for case in chosen)

    def order(one: Case) -> tuple[int, int, int, int, str, int]:
        return (
            of_category[one.category, one.benchmark],
            of_benchmark[one.benchmark],
            of_problem[one.benchmark, one.problem_uid],
            hashed(seed, label, one.problem_uid, one.message_index),
            one.problem_uid,
            one.message_index,
        )

    return min(left, key=order)
