"""Hierarchical intervals against the enumeration of all resamples."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dhd.analysis.repeated.blocks import ReplayBlocks
from dhd.analysis.repeated.hierarchical import mean_effects, resampled_totals, stratum_totals
from support.replay_blocks import M, make_blocks, random_blocks


def copy_effects(study: ReplayBlocks, problem: int, drawn: tuple[int, ...]) -> list[list[float]]:
    """Return the effects of wrong and of correct messages in one copy of a problem."""
    effects: list[list[float]] = [[], []]
    for message, proposal in enumerate(study.proposals[problem].tolist()):
        valid = [b for b in drawn if study.valid[problem, b, message]]
        if valid and proposal in (0, 1):
            values = [int(study.differences[problem, b, message]) / 2 for b in valid]
            effects[proposal].append(sum(values) / len(values))
    return effects


def enumerated_means(study: ReplayBlocks) -> tuple[list[float], list[float]]:
    """Return the mean effect of wrong and correct messages in every equally likely resample."""
    problems, blocks = study.problem_count, study.block_count
    block_draws = list(product(range(blocks), repeat=blocks))
    means: tuple[list[float], list[float]] = ([], [])
    for copies in product(range(problems), repeat=problems):
        for draws in product(block_draws, repeat=problems):
            found: list[list[float]] = [[], []]
            for problem, drawn in zip(copies, draws, strict=True):
                for kind, effects in enumerate(copy_effects(study, problem, drawn)):
                    found[kind] += effects
            for kind in (0, 1):
                means[kind].append(float(np.mean(found[kind])) if found[kind] else np.nan)
    return means


@pytest.mark.parametrize("missing", [False, True])
def test_resamples_have_the_enumerated_distribution(missing: bool) -> None:
    """Two problems, two blocks: 2^2 · (2^2)^2 = 64 equally likely resamples."""
    outcomes = np.array(
        [
            [[1, 1, 0, 1, 1, 0, 1], [1, 0, 0, 0, 1, 0, 1]],
            [[0, 0, 1, 0, 0, 0, 0], [1, 1, 1, 0, 1, 1, 1]],
        ],
        dtype=np.int8,
    )
    if missing:
        outcomes[0, 1, 3] = M
        outcomes[1, 0, 0] = M
    study = make_blocks(outcomes, [[0, 0, 1, 1, 1], [1, 0, 1, 1, 1]])
    resamples = 60_000
    totals = resampled_totals(study, resamples, np.random.default_rng(11))
    for kind, expected in enumerate(enumerated_means(study)):
        sums, counts = totals[:, 2 * kind], totals[:, 2 * kind + 1]
        means = np.full(resamples, np.nan)
        np.divide(sums / 4, counts, out=means, where=counts > 0)  # unit: 2 · lcm(1, 2)
        for value in np.unique(np.round(expected, 9)):
            share = np.mean(np.isclose(expected, value, equal_nan=True))
            found = np.mean(np.isclose(means, value, equal_nan=True))
            assert abs(found - share) <= 4.5 * np.sqrt(share * (1 - share) / resamples)


def test_observed_means_are_message_weighted() -> None:
    """Wrong: effects 1 and −.5 and 0 over three messages; correct: 0 over seven."""
    block = [[1, 1, 0, 1, 1, 1, 1], [1, 1, 0, 1, 1, 1, 1]]
    other = [[1, 0, 1, 1, 1, 1, 0], [0, 1, 1, 1, 1, 0, 1]]
    study = make_blocks([block, other], [[0, 1, 1, 1, 1], [0, 0, 1, 1, 1]])
    totals = stratum_totals(study)
    effects = mean_effects(totals, np.tile(totals, (3, 1)), study.block_count)
    # Second problem: F = 1 of 2 in both blocks; messages 1…3 have R = 1, 1: τ̂ = −.5.
    assert study.effects.tolist() == [[1, 0, 0, 0, 0], [-0.5, -0.5, -0.5, 0, 0]]
    assert effects["wrong"].value == pytest.approx((1 - 0.5 - 0.5) / 3)
    assert effects["correct"].value == pytest.approx(-0.5 / 7)
    assert effects["correct_minus_wrong"].value == pytest.approx(-0.5 / 7)
    assert effects["wrong"].interval.low == effects["wrong"].interval.high


def test_a_stratum_without_wrong_messages_has_no_interval() -> None:
    study = make_blocks(np.ones((3, 5, 7)), np.ones((3, 5)))
    resampled = resampled_totals(study, 20, np.random.default_rng(0))
    effects = mean_effects(stratum_totals(study), resampled, 5)
    assert np.isnan(effects["wrong"].value)
    assert np.isnan(effects["wrong"].interval.low)
    assert effects["correct"].value == 0


def test_totals_are_exact_and_independent_of_problem_order() -> None:
    study = random_blocks(np.random.default_rng(3), 30, missing=0.05)
    order = np.random.default_rng(4).permutation(30)
    assert (stratum_totals(study) == stratum_totals(study.select(order))).all()
    resampled = resampled_totals(study, 200, np.random.default_rng(5))
    assert (resampled == np.round(resampled)).all()
    again = resampled_totals(study, 200, np.random.default_rng(5))
    assert (resampled == again).all()
