"""Drawing a sample that is balanced over strata."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from dhd.studies.draws import hashed

Item = TypeVar("Item")


def balanced(
    items: Iterable[Item],
    count: int,
    *,
    stratum: Callable[[Item], Hashable],
    group: Callable[[Item], str],
    key: Callable[[Item], str],
    seed: int,
    label: str,
    earlier: Iterable[str] = (),
) -> list[Item]:
    """Draw ``count`` items, as equally over strata as they allow.

    Strata give one item each, then a second one each, and so on; one that is used up gives no
    more, and the others fill its places. In a stratum the order is random, but every group
    gives one item before any gives a second. A larger sample contains the smaller ones. Items
    of an earlier draw come first in their strata, so that they stay as far as the balance allows.

    Parameters
    ----------
    items
        What may be drawn.
    count
        How many; all are taken when there are fewer.
    stratum
        Over what the sample is balanced.
    group
        What should not be drawn twice while others are left, e.g. the problem.
    key
        Tells items of one stratum apart.
    seed, label
        What the choice follows from.
    earlier
        Keys of an earlier draw, in its order; those of other items are left out.
    """
    before = {name: place for place, name in enumerate(earlier)}
    strata: dict[Hashable, list[tuple[int, str, Item]]] = defaultdict(list)
    for item in items:
        strata[stratum(item)].append((hashed(seed, label, key(item)), key(item), item))
    places: list[tuple[int, int, str, Item]] = []
    for name, members in strata.items():
        members.sort(key=lambda member: member[:2])
        turn = hashed(seed, label, "stratum", name)
        kept = sorted(
            (item for _, _, item in members if key(item) in before),
            key=lambda item: before[key(item)],
        )
        others = [item for _, _, item in members if key(item) not in before]
        ordered = [*kept, *_groups_first(others, group, seen=Counter(map(group, kept)))]
        places.extend((rank, turn, key(item), item) for rank, item in enumerate(ordered))
    places.sort(key=lambda place: place[:3])
    return [item for _, _, _, item in places[:count]]


def _groups_first(
    items: list[Item], group: Callable[[Item], str], seen: Counter[str]
) -> list[Item]:
    """Return items in their order, the first of every group before the second of any.

    ``seen`` counts what the groups have given before.
    """
    ranked = []
    for item in items:
        ranked.append((seen[group(item)], item))
        seen[group(item)] += 1
    return [item for _, item in sorted(ranked, key=lambda pair: pair[0])]
