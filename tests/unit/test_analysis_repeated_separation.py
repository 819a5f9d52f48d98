"""The exact bootstrap separation against enumeration and by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dhd.analysis.repeated.separation import (
    VALUES,
    bootstrap_bounds,
    code_weights,
    fewest_nonzero_blocks,
    separation,
    separation_by_code,
    separation_of_counts,
    sum_by_code,
)
from support.replay_blocks import M, make_blocks, random_blocks


def enumerated_bounds(differences: tuple[int, ...]) -> tuple[int, int]:
    """Enumerate all n^n resamples of the block differences."""
    sums = sorted(sum(drawn) for drawn in product(differences, repeat=len(differences)))
    at_most = {v: Fraction(sum(s <= v for s in sums), len(sums)) for v in set(sums)}
    low = min(v for v, share in at_most.items() if share >= Fraction(25, 1000))
    high = min(v for v, share in at_most.items() if share >= Fraction(975, 1000))
    return low, high


def counts_of(differences: tuple[int, ...]) -> list[int]:
    return [differences.count(value) for value in VALUES]


@pytest.mark.parametrize("blocks", [2, 3, 4])
def test_bounds_equal_the_enumeration_of_all_resamples(blocks: int) -> None:
    for differences in product(VALUES, repeat=blocks):
        if list(differences) != sorted(differences):
            continue
        low, high = bootstrap_bounds([counts_of(differences)])
        assert (low[0], high[0]) == enumerated_bounds(differences), differences


@pytest.mark.parametrize(
    ("differences", "label"),
    [
        # Three of five blocks nonzero: 2^5 / 5^5 = .0102 of the resamples have sum 0.
        ((2, 2, 2, 0, 0), 1),
        ((-2, -2, -2, 0, 0), -1),
        ((1, 1, 1, 0, 0), 1),
        # Two of five: 3^5 / 5^5 = .0778.
        ((2, 2, 0, 0, 0), 0),
        ((2, 2, 2, 2, 2), 1),
        ((0, 0, 0, 0, 0), 0),
        # One opposite half block: sum ≤ 0 needs several draws of it.
        ((2, 2, 2, 2, -1), 1),
        ((2, 2, 2, -2, -2), 0),
        ((2, 2), 1),
        ((2, 0), 0),
        ((2,), 0),
        ((), 0),
    ],
)
def test_labels_derived_by_hand(differences: tuple[int, ...], label: int) -> None:
    assert separation_of_counts([counts_of(differences)])[0] == label


def test_ten_blocks_equal_python_integers() -> None:
    """Ten blocks have 10^10 resamples: bounds, in integers of any size."""
    rng = np.random.default_rng(0)
    for counts in rng.multinomial(10, [0.1, 0.15, 0.4, 0.2, 0.15], size=150):
        ways = np.ones(1, dtype=object)
        for _ in range(10):
            ways = np.convolve(ways, counts.astype(object))
        at_most = np.cumsum(ways).tolist()
        low = next(v for v, n in enumerate(at_most, start=-20) if 1000 * n >= 25 * 10**10)
        high = next(v for v, n in enumerate(at_most, start=-20) if 1000 * n >= 975 * 10**10)
        assert [bound[0] for bound in bootstrap_bounds([counts])] == [low, high]


def test_sixteen_blocks_are_still_exact() -> None:
    """16^16 resamples exceed 64-bit integers; seven nonzero blocks separate, three do not."""
    seven, three = [0, 0, 9, 0, 7], [0, 0, 13, 0, 3]
    assert 40 * 9**16 < 16**16 < 40 * 13**16
    assert separation_of_counts([seven, three]).tolist() == [1, 0]


def test_code_tables_agree_with_the_direct_label() -> None:
    rng = np.random.default_rng(1)
    for blocks, valid in ((5, 5), (5, 4), (5, 2), (10, 10), (3, 1)):
        differences = rng.integers(-2, 3, size=(50, valid))
        codes = code_weights(blocks)[differences + 2].sum(axis=1)
        direct = [separation_of_counts([counts_of(tuple(row))])[0] for row in differences.tolist()]
        assert separation_by_code(blocks, valid)[codes].tolist() == direct
        assert sum_by_code(blocks)[codes].tolist() == differences.sum(axis=1).tolist()


@pytest.mark.parametrize("blocks", [2, 3, 4, 5, 8, 10])
def test_fewest_nonzero_blocks_is_the_least_that_separates(blocks: int) -> None:
    fewest = fewest_nonzero_blocks(blocks)
    for nonzero in range(blocks + 1):
        for value in VALUES:
            counts = counts_of((value,) * nonzero + (0,) * (blocks - nonzero))
            if nonzero < fewest:
                assert separation_of_counts([counts])[0] == 0
    labels = separation_of_counts([counts_of((2,) * fewest + (0,) * (blocks - fewest))])
    assert labels[0] == 1


def test_missing_slots_leave_their_blocks_out() -> None:
    """Message 1 loses one block, message 2 none; a missing full pool hits all messages."""
    block = [1, 1, 0, 0, 1, 1, 1]
    outcomes = [[block, block, block, [1, 1, M, 0, 1, 1, 1], [1, M, 0, 0, 1, 1, 1]]]
    study = make_blocks(outcomes)
    assert study.valid_blocks.tolist() == [[3, 4, 4, 4, 4]]
    assert study.effects[0].tolist() == [1, 1, 0, 0, 0]
    assert separation(study.differences, study.valid).tolist() == [[1, 1, 0, 0, 0]]


def test_one_block_and_nothing_observed_separate_nothing() -> None:
    one = make_blocks([[[1, 1, 0, 0, 0, 0, 0]]])
    assert not separation(one.differences, one.valid).any()
    none = make_blocks(np.full((2, 5, 7), M))
    assert not separation(none.differences, none.valid).any()
    assert np.isnan(none.effects).all()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), blocks=st.integers(1, 6))
def test_labels_follow_messages_and_ignore_block_order(seed: int, blocks: int) -> None:
    rng = np.random.default_rng(seed)
    study = random_blocks(rng, 6, blocks, missing=0.1)
    labels = separation(study.differences, study.valid)
    messages, order = rng.permutation(5), rng.permutation(blocks)
    moved = study.outcomes[:, order][:, :, np.concatenate([[0, 1], 2 + messages])]
    shuffled = make_blocks(moved)
    assert (separation(shuffled.differences, shuffled.valid) == labels[:, messages]).all()
    swapped = make_blocks(study.outcomes[:, :, [1, 0, 2, 3, 4, 5, 6]])
    assert (separation(swapped.differences, swapped.valid) == labels).all()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_exchanging_right_and_wrong_flips_labels_where_no_bound_is_hit(seed: int) -> None:
    study = random_blocks(np.random.default_rng(seed), 8, 5)
    mirrored = make_blocks(1 - study.outcomes)
    ours = separation(study.differences, study.valid)
    theirs = separation(mirrored.differences, mirrored.valid)
    assert (mirrored.differences == -study.differences).all()
    # 5^5 is not divisible by 40: no share of resamples is .025 exactly, the rule is symmetric.
    assert (theirs == -ours).all()


def test_counts_of_different_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="one positive sum"):
        bootstrap_bounds([[0, 0, 1, 0, 0], [0, 0, 2, 0, 0]])
