"""Permutation p-values and the control against full enumeration of the shuffles."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dhd.analysis.repeated.arrangements import block_pattern, placements
from dhd.analysis.repeated.message_test import (
    difference_ways,
    exact_message_p,
    monte_carlo_message_p,
)
from dhd.analysis.repeated.multiplicity import selected
from dhd.analysis.repeated.separation import separation
from dhd.analysis.repeated.separation_control import CATEGORIES, in_category, separation_control
from support.replay_blocks import M, all_shuffles, make_blocks, random_blocks


def enumerated_p(outcomes: np.ndarray) -> list[float]:
    """Return two-sided p-values of one problem from every permutation of its slots."""
    observed = np.abs(make_blocks([outcomes]).difference_sums[0])
    shuffled = np.array(list(all_shuffles(outcomes)))
    sums = np.abs(make_blocks(shuffled).difference_sums)
    return (sums >= observed).mean(axis=0).tolist()


@pytest.mark.parametrize(
    "block",
    [
        [1, 1, 0, 0, 0, 0, 0],
        [1, 0, 1, 1, 0, 1, 1],
        [0, 0, 1, 1, 1, 1, 1],
        [1, 1, 0, 1, M, 0, 1],
        [1, M, 0, 1, 0, 0, 1],
        [1, 1, 1, 1, 1, 1, 1],
    ],
)
def test_exact_p_equals_all_permutations_of_one_block(block: list[int]) -> None:
    outcomes = np.array([block], dtype=np.int8)
    assert exact_message_p(make_blocks([outcomes]))[0] == pytest.approx(
        enumerated_p(outcomes), abs=1e-12
    )


def test_exact_p_equals_all_permutations_of_two_blocks() -> None:
    """5! and 4! permutations of observed slots: all 2,880 pairs."""
    outcomes = np.array([[1, 1, 0, M, 0, 1, M], [1, 0, 0, M, 1, M, M]], dtype=np.int8)
    assert exact_message_p(make_blocks([outcomes]))[0] == pytest.approx(
        enumerated_p(outcomes), abs=1e-12
    )


def test_exact_p_by_hand() -> None:
    """Two ones of seven in both fulls: F − 2R = 2 in C(4, 0) of C(7, 2) placements."""
    study = make_blocks([[[1, 1, 0, 0, 0, 0, 0]]])
    # |difference| = 2: both fulls and not i (1 way), or i and no full (4 ways), of 21.
    assert exact_message_p(study)[0].tolist() == pytest.approx([5 / 21] * 5)


@pytest.mark.parametrize("observed", [3, 5, 7])
def test_ways_of_a_block_add_up(observed: int) -> None:
    for ones in range(observed + 1):
        assert sum(difference_ways(observed, ones)) == comb(observed, ones)


def test_a_message_without_valid_block_has_p_one() -> None:
    study = make_blocks([[[1, 0, M, 1, 0, 0, 1]] * 3])
    assert exact_message_p(study)[0, 0] == 1
    assert exact_message_p(make_blocks(np.full((1, 5, 7), M))).tolist() == [[1.0] * 5]


def test_equal_outcomes_have_p_one() -> None:
    assert (exact_message_p(make_blocks(np.ones((3, 5, 7)))) == 1).all()


def test_monte_carlo_agrees_with_exact() -> None:
    study = random_blocks(np.random.default_rng(5), 40, missing=0.03)
    exact = exact_message_p(study)
    draws = 20_000
    sampled = monte_carlo_message_p(study, draws, np.random.default_rng(6))
    error = np.sqrt(exact * (1 - exact) / draws) + 1 / draws
    assert (np.abs(sampled - exact) <= 4.5 * error).all()


def test_placements_keep_missing_slots_missing() -> None:
    pattern = block_pattern(np.array([1, M, 0, 1, 0, M, 0], dtype=np.int8))
    table = placements(pattern)
    assert len(table) == comb(5, 2)
    assert len(np.unique(table, axis=0)) == len(table)
    assert (table[:, [1, 5]] == M).all()
    assert ((table == 1).sum(axis=1) == 2).all()


def test_control_equals_the_enumerated_null_distribution() -> None:
    """One problem, three blocks with 3, 2 and 2 observed removals: every shuffle counted."""
    outcomes = np.array(
        [[1, 1, 0, 0, M, M, M], [1, 1, 0, 0, M, M, M], [1, 1, 0, 0, M, M, M]], dtype=np.int8
    )
    proposals = [[0, 1, 0, 0, 0]]
    shuffled = make_blocks(np.array(list(all_shuffles(outcomes))))
    labels = separation(shuffled.differences, shuffled.valid)
    draws = 40_000
    control = separation_control(
        make_blocks([outcomes], proposals), draws, np.random.default_rng(2)
    )
    for category in CATEGORIES:
        counts = in_category(category, labels, np.array(proposals)).sum(axis=1)
        for value in range(6):
            expected = (counts == value).mean()
            found = (control.null[category] == value).mean()
            assert abs(found - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / draws)
    assert control.observed["separated"] == 2
    assert control.observed["wrong_helpful"] == control.observed["correct_helpful"] == 1


def test_control_without_mixed_blocks_is_zero() -> None:
    control = separation_control(make_blocks(np.ones((4, 5, 7))), 50, np.random.default_rng(0))
    assert all(not control.null[category].any() for category in CATEGORIES)
    assert control.p_value("separated") == 1
    assert control.count_range("separated") == (0, 0)


def test_control_p_value_counts_the_observed_data() -> None:
    """Ten problems whose first message is needed in every block: no shuffle reaches ten."""
    study = make_blocks(np.tile([1, 1, 0, 1, 1, 1, 1], (10, 5, 1)))
    control = separation_control(study, 500, np.random.default_rng(3))
    assert control.observed["wrong_helpful"] == 10
    assert control.p_value("wrong_helpful") == 1 / 501


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_exact_p_follows_messages_and_never_is_zero(seed: int) -> None:
    rng = np.random.default_rng(seed)
    study = random_blocks(rng, 5, missing=0.1)
    p_values = exact_message_p(study)
    assert ((p_values > 0) & (p_values <= 1)).all()
    messages = rng.permutation(5)
    moved = make_blocks(study.outcomes[:, :, np.concatenate([[0, 1], 2 + messages])])
    assert (exact_message_p(moved) == p_values[:, messages]).all()
    flipped = np.where(study.outcomes == M, M, 1 - study.outcomes)
    assert exact_message_p(make_blocks(flipped)) == pytest.approx(p_values)


def test_screens_by_hand() -> None:
    """BH at .05 over five: .04 ≤ 4/5 · .05; BY divides by 1 + 1/2 + … + 1/5 = 2.28."""
    p_values = [0.001, 0.02, 0.03, 0.04, 0.9]
    assert selected(p_values, "bh", 0.05).tolist() == [True, True, True, True, False]
    assert selected(p_values, "by", 0.05).tolist() == [True, False, False, False, False]
    assert selected([], "bh", 0.05).shape == (0,)
    assert selected(np.full((2, 3), 0.001), "by", 0.05).shape == (2, 3)
