"""The cross-fit and its controls against plain loops over fractions and full enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dhd.analysis.repeated.blocks import ReplayBlocks
from dhd.analysis.repeated.crossfit import (
    arm_scores,
    correctness_cross_fit,
    cross_fit,
    hindsight_accuracy,
    message_cross_fit,
    remove_lowest_wrong,
    remove_uniform_wrong,
    rescues_and_harms,
)
from dhd.analysis.repeated.crossfit_control import CONTROLS, Control, crossfit_control
from support.replay_blocks import make_blocks, random_blocks

Action = list[Fraction]


def mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def gain_of(actions: list[Action]) -> Fraction:
    """Return the mean gain of one problem from its actions' scores by block, as plain loops."""
    blocks = range(len(actions[0]))
    gains = []
    for held_out in blocks:
        others = [mean([scores[b] for b in blocks if b != held_out]) for scores in actions]
        best = others.index(max(others))
        gains.append(actions[best][held_out] - actions[0][held_out])
    return mean(gains)


def actions_of(study: ReplayBlocks, problem: int) -> tuple[Action, list[Action]]:
    blocks = study.outcomes[problem].tolist()
    keep = [Fraction(block[0] + block[1], 2) for block in blocks]
    return keep, [[Fraction(block[2 + i]) for block in blocks] for i in range(5)]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), blocks=st.integers(2, 6))
def test_gains_equal_plain_loops(seed: int, blocks: int) -> None:
    study = random_blocks(np.random.default_rng(seed), 5, blocks)
    message, correctness, lowest, uniform = [], [], [], []
    for problem, proposals in enumerate(study.proposals.tolist()):
        keep, removals = actions_of(study, problem)
        message.append(gain_of([keep, *removals]))
        classes = [keep]
        for kind in (0, 1):
            members = [removals[i] for i in range(5) if proposals[i] == kind]
            if members:
                classes.append([mean(list(scores)) for scores in zip(*members, strict=True)])
        correctness.append(gain_of(classes))
        wrong = [removals[i] for i in range(5) if proposals[i] == 0] or [keep]
        lowest.append(mean([a - k for a, k in zip(wrong[0], keep, strict=True)]))
        uniform.append(mean([mean([a - k for a, k in zip(w, keep, strict=True)]) for w in wrong]))
    assert message_cross_fit(study).gain == pytest.approx(float(mean(message)), abs=1e-12)
    assert correctness_cross_fit(study).gain == pytest.approx(float(mean(correctness)), abs=1e-12)
    assert remove_lowest_wrong(study) == pytest.approx(float(mean(lowest)), abs=1e-12)
    assert remove_uniform_wrong(study) == pytest.approx(float(mean(uniform)), abs=1e-12)


def test_choices_scores_and_ties_by_hand() -> None:
    """Removing message 2 always succeeds; the full pool only in the last block."""
    fails, works = [0, 0, 0, 1, 0, 0, 0], [1, 1, 0, 1, 0, 0, 0]
    study = make_blocks([[fails, fails, works]])
    fit = message_cross_fit(study)
    assert fit.choice.tolist() == [[2, 2, 2]]
    assert fit.keep.tolist() == [[0, 0, 2]]
    assert fit.chosen.tolist() == [[2, 2, 2]]
    assert fit.gain == pytest.approx(2 / 3)
    assert rescues_and_harms(fit) == (2, 0)
    assert hindsight_accuracy(study) == 1
    # Equal scores keep all; among removals the lowest index wins.
    tie = make_blocks([[[1, 1, 1, 1, 1, 1, 1]] * 3])
    assert (message_cross_fit(tie).choice == 0).all()
    two = make_blocks([[[0, 1, 0, 1, 1, 0, 0]] * 3])
    assert (message_cross_fit(two).choice == 2).all()
    # One half against one half: the mean of two fulls ties with nothing, .5 < 1.
    assert message_cross_fit(two).gain == pytest.approx(0.5)


def test_a_harm_is_a_choice_that_fails_where_the_full_pool_works() -> None:
    """Blocks 1 and 2 say remove 1; in block 3 that fails."""
    study = make_blocks([[[0, 0, 1, 0, 0, 0, 0]] * 2 + [[1, 1, 0, 0, 0, 0, 0]]])
    fit = message_cross_fit(study)
    assert fit.choice.tolist()[0][2] == 1
    assert rescues_and_harms(fit)[1] == 1


def test_comparator_ties_are_exact_fractions() -> None:
    """Thirds: the wrong class scores 1/3 and the full pool 1/2 + … never compared as floats."""
    block = [1, 0, 1, 0, 0, 1, 0]  # keep 1/2, wrong {1, 2, 3} 1/3, correct {4, 5} 1/2
    study = make_blocks([[block] * 3], [[0, 0, 0, 1, 1]])
    fit = correctness_cross_fit(study)
    assert (fit.choice == 0).all()
    better = make_blocks([[[1, 0, 1, 1, 0, 1, 0]] * 3], [[0, 0, 0, 1, 1]])
    assert (correctness_cross_fit(better).choice == 1).all()
    assert correctness_cross_fit(better).gain == pytest.approx(2 / 3 - 1 / 2)


def test_classes_without_messages_are_left_out() -> None:
    study = make_blocks([[[0, 0, 0, 0, 0, 0, 0]] * 2], np.ones((1, 5)))
    assert (correctness_cross_fit(study).choice != 1).all()
    assert remove_lowest_wrong(study) == remove_uniform_wrong(study) == 0


def shuffles_of(blocks: list[list[int]], control: Control) -> list[int]:
    """Return the summed gain in every combination of distinct arrangements (equally likely)."""
    options = []
    for block in blocks:
        fixed, free = ([], block) if control == "all_action" else (block[:1], block[1:])
        options.append(sorted({(*fixed, *order) for order in permutations(free)}))
    scores = np.array(list(product(*options)), dtype=np.int64)
    return cross_fit(scores, 1).gains.sum(axis=1).tolist()


@pytest.mark.parametrize("control", CONTROLS)
def test_null_equals_the_enumeration(control: Control) -> None:
    blocks = [[0, 1, 0, 0, 1, 0], [1, 0, 0, 1, 0, 0], [1, 1, 1, 1, 1, 1], [0, 1, 1, 1, 1, 1]]
    enumerated = np.array(shuffles_of(blocks, control))
    draws = 40_000
    scores = np.array([blocks], dtype=np.int64)
    result = crossfit_control(scores, control, draws, np.random.default_rng(7))
    for value in range(-4, 5):
        share = (enumerated == value).mean()
        found = (result.null == value).mean()
        assert abs(found - share) <= 4.5 * np.sqrt(share * (1 - share) / draws), value
    assert result.folds == 4
    assert result.observed == cross_fit(scores, 1).gains.sum()


def test_control_of_constant_blocks_is_zero_with_p_one() -> None:
    result = crossfit_control(np.ones((3, 5, 6)), "all_action", 100, np.random.default_rng(0))
    assert result.observed == 0
    assert not result.null.any()
    assert result.p_value == 1
    assert result.null_range == (0, 0)
    assert result.null_maximum == 0


def test_p_value_counts_ties() -> None:
    """Identical removals: the removal-identity null always ties with the observed gain."""
    scores = np.array([[[0, 1, 1, 1, 1, 1]] * 3], dtype=np.int64)
    result = crossfit_control(scores, "removal_identity", 50, np.random.default_rng(0))
    assert result.observed == 3
    assert (result.null == 3).all()
    assert result.p_value == 1


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_arms_and_order_of_blocks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    study = random_blocks(rng, 6)
    moved = make_blocks(study.outcomes[:, rng.permutation(5)], study.proposals)
    for replicate in (0, 1):
        scores = arm_scores(study, replicate)
        assert (scores[:, :, 0] == study.full[:, :, replicate]).all()
        ours, theirs = cross_fit(scores, 1), cross_fit(arm_scores(moved, replicate), 1)
        assert (ours.gains.sum(axis=1) == theirs.gains.sum(axis=1)).all()


def test_scores_of_other_values_are_refused() -> None:
    with pytest.raises(ValueError, match="0/1"):
        crossfit_control(np.full((1, 2, 6), 2), "all_action", 5, np.random.default_rng(0))
    with pytest.raises(ValueError, match="at least one problem"):
        crossfit_control(np.ones((0, 2, 6)), "all_action", 5, np.random.default_rng(0))
