"""The problem-blocked test against enumeration and its Monte Carlo form."""

from __future__ import annotations

import time
from itertools import product
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dhd.analysis.repeated.arrangements import block_pattern, placements
from dhd.analysis.repeated.maximum_null import maximum_ways, sampled_maximum
from dhd.analysis.repeated.problem_test import (
    exact_problem_p,
    monte_carlo_problem_p,
    problem_patterns,
)
from support.replay_blocks import M, make_blocks, random_blocks


def enumerated_ways(ones: tuple[int, ...], wrong: int) -> list[int]:
    """Count the maximum over the wrong messages in every combination of placements."""
    tables = [placements(block_pattern(np.array([1] * t + [0] * (7 - t)))) for t in ones]
    counts = [0] * (4 * len(ones) + 1)
    for chosen in product(*tables):
        slots = np.array(chosen)
        statistic = slots[:, :2].sum() - 2 * slots[:, 2 : 2 + wrong].sum(axis=0).min()
        counts[2 * len(ones) - int(statistic)] += 1
    return counts


@pytest.mark.parametrize("ones", [(1,), (3,), (6,), (2, 2), (1, 4), (3, 5), (1, 1, 2)])
@pytest.mark.parametrize("wrong", [1, 2, 5])
def test_ways_equal_the_enumeration(ones: tuple[int, ...], wrong: int) -> None:
    assert maximum_ways(ones, wrong).tolist() == enumerated_ways(ones, wrong)


def test_p_by_hand() -> None:
    """One mixed block, both fulls right, one wrong message: 2 of 7 ones placed on the fulls."""
    block, rest = [1, 1, 0, 0, 0, 0, 0], [0] * 7
    study = make_blocks([[block, rest, rest, rest, rest]], [[0, 1, 1, 1, 1]])
    patterns = problem_patterns(study)
    assert patterns.patterns == (((2,), 1),)
    assert patterns.statistics.tolist() == [2]
    # F − 2R = 2 in one of 21 placements.
    assert exact_problem_p(patterns).tolist() == [1 / 21]


def test_more_blocks_than_int64_can_count() -> None:
    """35^14 placements exceed 64 bits; the counts still add up exactly."""
    ones = (3,) * 14
    ways = maximum_ways(ones, 1)
    assert sum(ways.tolist()) == comb(7, 3) ** 14 > 2**63
    shorter = maximum_ways((3,) * 12, 2)
    assert sum(shorter.tolist()) == comb(7, 3) ** 12 < 2**63


@pytest.mark.parametrize(("ones", "wrong"), [((1, 2, 3, 4, 5), 5), ((3, 3, 4, 6, 6), 2)])
def test_monte_carlo_agrees_with_exact(ones: tuple[int, ...], wrong: int) -> None:
    draws = 200_000
    sampled = sampled_maximum(ones, wrong, draws, np.random.default_rng(4))
    share = maximum_ways(ones, wrong) / prod(comb(7, t) for t in ones)
    error = np.sqrt(share * (1 - share) / draws)
    assert sampled.sum() == draws
    assert (np.abs(sampled / draws - share) <= 4.5 * error + 1e-12).all()


def test_monte_carlo_p_of_problems() -> None:
    patterns = problem_patterns(random_blocks(np.random.default_rng(8), 12))
    draws = 50_000
    exact = exact_problem_p(patterns)
    sampled = monte_carlo_problem_p(patterns, draws, np.random.default_rng(9))
    error = np.sqrt(exact * (1 - exact) / draws) + 1 / draws
    assert (np.abs(sampled - exact) <= 4.5 * error).all()
    assert (sampled >= 1 / (1 + draws)).all()


def test_eligible_problems_are_complete_and_have_a_wrong_message() -> None:
    outcomes = np.ones((3, 5, 7), dtype=np.int8)
    outcomes[1, 2, 6] = M
    study = make_blocks(outcomes, [[0, 1, 1, 1, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, M]])
    assert problem_patterns(study).positions.tolist() == [0]
    assert exact_problem_p(problem_patterns(study)).tolist() == [1]


def test_a_study_without_eligible_problem_has_no_p_value() -> None:
    empty = problem_patterns(make_blocks(np.ones((2, 5, 7)), np.ones((2, 5))))
    assert exact_problem_p(empty).shape == (0,)
    assert monte_carlo_problem_p(empty, 10, np.random.default_rng(0)).shape == (0,)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_one_more_wrong_message_never_lowers_the_p_value(seed: int) -> None:
    """A further wrong message with the same or a smaller effect leaves the statistic alone."""
    study = random_blocks(np.random.default_rng(seed), 1)
    ones = problem_patterns(make_blocks(study.outcomes)).patterns[0][0]
    for statistic in range(-2 * len(ones), 2 * len(ones) + 1):
        tails = [
            sum(maximum_ways(ones, wrong)[: 2 * len(ones) - statistic + 1].tolist())
            for wrong in range(1, 6)
        ]
        assert tails == sorted(tails)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_p_ignores_order_of_blocks_messages_and_fulls(seed: int) -> None:
    rng = np.random.default_rng(seed)
    study = random_blocks(rng, 4)
    messages = rng.permutation(5)
    slots = np.concatenate([[1, 0], 2 + messages])
    moved = study.outcomes[:, rng.permutation(5)][:, :, slots]
    shuffled = make_blocks(moved, study.proposals[:, messages])
    ours, theirs = (exact_problem_p(problem_patterns(part)) for part in (study, shuffled))
    assert ours.tolist() == theirs.tolist()


@pytest.mark.slow
def test_exact_is_a_hundred_times_faster_than_a_million_draws() -> None:
    patterns = sorted(set(problem_patterns(random_blocks(np.random.default_rng(1), 60)).patterns))
    maximum_ways.cache_clear()
    start = time.process_time()
    for pattern in patterns:
        maximum_ways(*pattern)
    exact = (time.process_time() - start) / len(patterns)
    some = patterns[:: max(1, len(patterns) // 5)]
    start = time.process_time()
    for pattern in some:
        sampled_maximum(*pattern, 1_000_000, np.random.default_rng(0))
    sampled = (time.process_time() - start) / len(some)
    assert sampled > 100 * exact
