"""Null distribution of the largest effect among a problem's wrong messages.

With F the summed full outcomes and R_i the summed removals of wrong message i, the statistic
of a problem is F − 2 min R_i (half units). Shuffled slots make all placements of a block's
ones equally likely, so its null follows from a dynamic program over mixed blocks. The state
is F and the removal counts of the wrong messages; these are exchangeable, hence kept sorted.
The last block needs less: the smallest count grows only when every message that has it is
among the chosen, which depends on how many have it.

Everything is counted, not estimated: integers of 64 bits, or of any size where those would
overflow (13 mixed blocks and more).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from math import comb, prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dhd.analysis.repeated.arrangements import block_pattern, placements
from dhd.analysis.repeated.blocks import FULL_SLOTS, SLOTS, Int8Array, IntArray
from dhd.messages import POOL_SIZE

#: Ones in each mixed block of a complete problem, in ascending order.
OnesPattern = tuple[int, ...]
#: Counts of placements: 64-bit integers, or Python integers where they need more.
WaysArray = npt.NDArray[Any]

_CHUNK_DRAWS: Final = 250_000


@cache
def maximum_ways(ones: OnesPattern, wrong: int) -> WaysArray:
    """Return the exact null of F − 2 min R_i as counts of placements.

    Parameters
    ----------
    ones
        Ones of the mixed blocks, j of them; other blocks add nothing to the statistic.
    wrong
        Number of wrong messages, 1 to 5.

    Returns
    -------
    Number of placements for the values 2j, 2j − 1, …, −2j (descending); read-only.
    """
    if not ones:
        result: WaysArray = np.ones(1, dtype=np.int64)
    else:
        states = _lowest_ways(ones[:-1], wrong)
        if prod(comb(SLOTS, count) for count in ones) > np.iinfo(np.int64).max:
            states = states.astype(np.object_)
        stay, grow = _last_block(ones[-1], wrong)
        fulls, lowest, _ = states.shape
        result = np.zeros(4 * len(ones) + 1, dtype=states.dtype)
        for added in range(FULL_SLOTS + 1):
            for step, weights in ((0, stay[added]), (1, grow[added])):
                ways = states @ weights
                total = np.arange(fulls)[:, None] + added
                value = total - 2 * (np.arange(lowest) + step)
                np.add.at(result, (2 * len(ones) - value).reshape(-1), ways.reshape(-1))
    result.setflags(write=False)
    return result


def sampled_maximum(
    ones: OnesPattern, wrong: int, draws: int, rng: np.random.Generator
) -> IntArray:
    """Return the same distribution as :func:`maximum_ways` from random placements.

    Counts of draws, for the same values in the same order.
    """
    result = np.zeros(4 * len(ones) + 1, dtype=np.int64)
    for start in range(0, draws, _CHUNK_DRAWS):
        size = min(_CHUNK_DRAWS, draws - start)
        differences = np.zeros((wrong, size), dtype=np.int8)
        for count in ones:
            table = _wrong_differences(count, wrong)
            differences += table.take(rng.integers(table.shape[1], size=size), axis=1)
        result += np.bincount(2 * len(ones) - differences.max(axis=0), minlength=len(result))
    return result


@dataclass(frozen=True, slots=True)
class _Grouping:
    """Columns to add up: ``order`` sorts them by key, groups begin at ``starts``."""

    order: IntArray
    starts: IntArray
    keys: IntArray
    size: int

    def add_up(self, columns: WaysArray) -> WaysArray:
        """Return the sums of columns with one key: rows × ``size`` keys."""
        result = np.zeros((len(columns), self.size), dtype=columns.dtype)
        result[:, self.keys] = np.add.reduceat(columns[:, self.order], self.starts, axis=1)
        return result


def _group(keys: IntArray, columns: IntArray, size: int) -> _Grouping:
    """Return the grouping of some columns by key; a column may occur several times."""
    order = np.argsort(keys, kind="stable")
    found, starts = np.unique(keys[order], return_index=True)
    return _Grouping(columns[order], starts, found, size)


@cache
def _state_ways(ones: OnesPattern, wrong: int) -> WaysArray:
    """Return the number of placements of each F and state."""
    if not ones:
        return np.ones((1, 1), dtype=np.int64)
    moved = _moved_ways(ones[:-1], wrong)
    if prod(comb(SLOTS, count) for count in ones) > np.iinfo(np.int64).max:
        moved = moved.astype(np.object_)
    weighted = _block_ways(ones[-1], wrong) @ moved
    fulls, _, states = weighted.shape
    after = np.zeros((fulls + FULL_SLOTS, states), dtype=moved.dtype)
    for added in range(FULL_SLOTS + 1):
        after[added : added + fulls] += weighted[:, added]
    return after


@cache
def _moved_ways(ones: OnesPattern, wrong: int) -> WaysArray:
    """Return F × chosen × states: ways after one more block has ``chosen`` wrong removals at 1.

    Summed over the sets of that size; the block's other slots are not yet counted.
    """
    before = _state_ways(ones, wrong)
    return _moves(len(ones), wrong).add_up(before).reshape(len(before), wrong + 1, -1)


@cache
def _lowest_ways(ones: OnesPattern, wrong: int) -> WaysArray:
    """Return ways by F, smallest removal count, and how many messages (0 … w) have it."""
    ways = _state_ways(ones, wrong)
    return _smallest(len(ones), wrong).add_up(ways).reshape(len(ways), -1, wrong + 1)


@cache
def _last_block(ones: int, wrong: int) -> tuple[IntArray, IntArray]:
    """Return placements of a block by F and number m of messages with the smallest count.

    Returns
    -------
    stay, grow
        (F = 0, 1, 2) × (m = 0 … w): placements that leave the smallest count, and those in
        which all m messages are among the chosen, so that it grows.
    """
    chosen, sharing = np.arange(wrong + 1)[:, None], np.arange(wrong + 1)[None, :]
    all_in = np.array(
        [
            [comb(wrong - m, a - m) if 0 < m <= a else 0 for m in sharing[0].tolist()]
            for a in chosen[:, 0].tolist()
        ]
    )
    every = np.array([comb(wrong, a) for a in chosen[:, 0].tolist()])[:, None]
    per_set = _block_ways(ones, wrong)
    return per_set @ (every - all_in), per_set @ all_in


@cache
def _block_ways(ones: int, wrong: int) -> IntArray:
    """Return placements of a block by F and number of chosen, for one given set of chosen."""
    others = POOL_SIZE - wrong
    return np.array(
        [
            [
                comb(FULL_SLOTS, fulls) * comb(others, ones - fulls - chosen)
                if ones >= fulls + chosen
                else 0
                for chosen in range(wrong + 1)
            ]
            for fulls in range(FULL_SLOTS + 1)
        ],
        dtype=np.int64,
    )


@cache
def _states(blocks: int, wrong: int) -> IntArray:
    """Return the sorted removal counts that mixed blocks can leave: states × wrong messages."""
    return np.array(list(combinations_with_replacement(range(blocks + 1), wrong)), dtype=np.int64)


@cache
def _moves(blocks: int, wrong: int) -> _Grouping:
    """Return how sets of chosen messages move the states of ``blocks`` blocks.

    Keys number the pairs of set size and state after the move.
    """
    base = (blocks + 2) ** np.arange(wrong)[::-1]
    numbers = _states(blocks + 1, wrong) @ base
    sets = (np.arange(1 << wrong)[:, None] >> np.arange(wrong)) & 1
    after = np.sort(_states(blocks, wrong)[:, None, :] + sets, axis=2) @ base
    keys = sets.sum(axis=1) * len(numbers) + np.searchsorted(numbers, after)
    sources = np.broadcast_to(np.arange(len(after))[:, None], after.shape)
    return _group(keys.reshape(-1), sources.reshape(-1), (wrong + 1) * len(numbers))


@cache
def _smallest(blocks: int, wrong: int) -> _Grouping:
    """Return the grouping of states by smallest count and number of messages that have it."""
    states = _states(blocks, wrong)
    sharing = (states == states[:, :1]).sum(axis=1)
    keys = states[:, 0] * (wrong + 1) + sharing
    return _group(keys, np.arange(len(states)), (blocks + 1) * (wrong + 1))


@cache
def _wrong_differences(ones: int, wrong: int) -> Int8Array:
    """Return the differences (half units) of the wrong messages: messages × placements."""
    block = np.array([1] * ones + [0] * (SLOTS - ones), dtype=np.int8)
    slots = placements(block_pattern(block))
    fulls = slots[:, :FULL_SLOTS].sum(axis=1, dtype=np.int8)
    removals = slots[:, FULL_SLOTS : FULL_SLOTS + wrong]
    return np.ascontiguousarray((fulls[:, None] - 2 * removals).T)
