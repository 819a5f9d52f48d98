"""The cluster bootstrap against exact distributions."""

from __future__ import annotations

import itertools
from math import comb

import numpy as np
import pytest
from scipy import stats

from dhd.analysis.bootstrap import (
    cluster_bootstrap_interval,
    percentile_interval,
    ratio,
    resampled_totals,
    rng_for,
)
from dhd.analysis.settings import AnalysisSettings


def test_totals_have_the_distribution_of_drawing_problems_one_by_one() -> None:
    counts = np.array([[0, 1], [2, 1], [2, 1], [5, 0]])
    # All 4^4 equally likely resamples.
    exact = [counts[list(drawn)].sum(axis=0) for drawn in itertools.product(range(4), repeat=4)]
    values, frequency = np.unique(exact, axis=0, return_counts=True)
    draws = 20_000
    totals = resampled_totals(counts, draws, np.random.default_rng(1))
    observed = [(totals == value).all(axis=1).sum() for value in values]
    assert sum(observed) == draws
    expected = frequency / frequency.sum() * draws
    assert stats.chisquare(observed, expected).pvalue > 1e-3


def test_equal_problems_leave_nothing_to_resample() -> None:
    totals = resampled_totals(np.full((7, 2), 3), 5, np.random.default_rng(1))
    assert (totals == 21).all()


def test_no_problem_gives_zero_totals_and_no_interval() -> None:
    totals = resampled_totals(np.empty((0, 2)), 5, np.random.default_rng(1))
    assert totals.tolist() == [[0.0, 0.0]] * 5
    interval = percentile_interval(ratio(totals[:, 0], totals[:, 1]))
    assert np.isnan([interval.low, interval.high]).all()


def test_interval_of_a_mean_is_that_of_the_binomial() -> None:
    counts = np.repeat([[1], [0]], [30, 70], axis=0)
    interval = cluster_bootstrap_interval(
        counts,
        lambda totals: totals[:, 0] / 100,
        resamples=40_000,
        rng=np.random.default_rng(3),
    )
    low, high = stats.binom.ppf([0.025, 0.975], 100, 0.3) / 100
    assert interval.low == pytest.approx(low, abs=0.0101)
    assert interval.high == pytest.approx(high, abs=0.0101)


def test_resamples_with_a_zero_denominator_are_dropped() -> None:
    # Two of ten problems flip, one each way: 10.7 % of the resamples draw neither.
    counts = np.zeros((10, 2))
    counts[0, 0] = counts[1, 1] = 1
    totals = resampled_totals(counts, 20_000, np.random.default_rng(5))
    shares = ratio(totals[:, 0], totals.sum(axis=1))
    assert np.isnan(shares).mean() == pytest.approx(0.8**10, abs=0.01)
    interval = percentile_interval(shares)
    assert (interval.low, interval.high) == (0.0, 1.0)


def test_quantiles_interpolate_linearly() -> None:
    interval = percentile_interval(np.arange(5.0))
    assert (interval.low, interval.high) == pytest.approx((0.1, 3.9))


def test_chunks_do_not_change_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.arange(20).reshape(10, 2)
    whole = resampled_totals(counts, 50, np.random.default_rng(2))
    monkeypatch.setattr("dhd.analysis.bootstrap._CHUNK_WEIGHTS", 30)
    assert (resampled_totals(counts, 50, np.random.default_rng(2)) == whole).all()


def test_generators_depend_on_seed_and_label_alone() -> None:
    settings = AnalysisSettings(seed=1)
    first, again = rng_for(settings, "a").random(), rng_for(settings, "a").random()
    assert first == again
    assert first != rng_for(settings, "b").random()
    assert first != rng_for(AnalysisSettings(seed=2), "a").random()


@pytest.mark.parametrize(
    ("counts", "resamples", "named"),
    [(np.zeros(3), 10, "problems × statistics"), (np.zeros((3, 1)), 0, "must be positive, not 0")],
)
def test_wrong_arguments_are_named(counts: np.ndarray, resamples: int, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        resampled_totals(counts, resamples, np.random.default_rng(1))


def test_multinomial_weights_match_direct_counting() -> None:
    # P(both draws of two problems hit the first) = 1/4, by the binomial formula.
    totals = resampled_totals(np.array([[1], [0]]), 20_000, np.random.default_rng(9))
    for hits in range(3):
        share = (totals[:, 0] == hits).mean()
        assert share == pytest.approx(comb(2, hits) / 4, abs=0.015)
