"""Samples of problems and of masking cases: by seed, nested, stratified, spread."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhd.studies import Candidate, Case, choose_cases, sample_problems, shuffled
from dhd.studies.draws import hashed, uniform

PROBLEMS = [Candidate(f"p{n:03d}") for n in range(60)]
TIERS = [
    Candidate(f"t{tier}:{n}", f"t{tier}")
    for tier, size in ((1, 40), (2, 15), (3, 5))
    for n in range(size)
]


def uids(sample: tuple[Candidate, ...]) -> list[str]:
    return [one.problem_uid for one in sample]


def test_a_sample_follows_from_seed_and_label_alone() -> None:
    first = sample_problems(PROBLEMS, 10, seed=1, label="a")
    assert first == sample_problems(reversed(PROBLEMS), 10, seed=1, label="a")
    assert len(set(first)) == 10
    assert first != sample_problems(PROBLEMS, 10, seed=2, label="a")
    assert first != sample_problems(PROBLEMS, 10, seed=1, label="b")


def test_the_drawn_problems_do_not_change_between_versions() -> None:
    assert uids(sample_problems(PROBLEMS, 4, seed=1, label="a")) == ["p018", "p056", "p024", "p042"]
    assert hashed(1, "a", 2) != hashed(1, "a2", "")


@given(st.integers(0, 70), st.integers(0, 70), st.sampled_from([PROBLEMS, TIERS]))
def test_a_larger_sample_contains_the_smaller(
    small: int, large: int, among: list[Candidate]
) -> None:
    small, large = sorted((small, large))
    drawn = sample_problems(among, large, seed=3, label="a")
    assert sample_problems(among, small, seed=3, label="a") == drawn[:small]
    assert len(drawn) == min(large, len(among))


@given(
    st.integers(0, 60), st.integers(0, 60), st.integers(0, 40), st.sampled_from([PROBLEMS, TIERS])
)
def test_an_earlier_draw_from_fewer_problems_stays(
    few: int, first: int, second: int, among: list[Candidate]
) -> None:
    before = uids(sample_problems(among[:few], first, seed=3, label="a"))
    now = uids(sample_problems(among, second, seed=3, label="a", earlier=["gone", *before]))
    assert now[: len(before)] == before[:second]
    assert len(now) == len(set(now)) == min(second, len(among))
    assert now == uids(sample_problems(among, second, seed=3, label="a", earlier=now))


@given(st.integers(0, 60), st.sampled_from([PROBLEMS, TIERS]))
def test_an_earlier_draw_of_the_same_problems_changes_nothing(
    first: int, among: list[Candidate]
) -> None:
    fresh = sample_problems(among, 30, seed=3, label="a")
    assert sample_problems(among, 30, seed=3, label="a", earlier=uids(fresh)[:first]) == fresh


def test_what_an_earlier_draw_lacks_comes_from_strata_that_have_too_few() -> None:
    """All 10 earlier ones are of t1, which at 24 of 60 has 16 places: 6 more come from it."""
    earlier = [f"t1:{n}" for n in range(10)]
    drawn = Counter(
        one.stratum for one in sample_problems(TIERS, 24, seed=4, label="a", earlier=earlier)
    )
    assert all(abs(drawn[f"t{tier}"] - share) < 2 for tier, share in ((1, 16), (2, 6), (3, 2)))


@given(st.integers(0, 60), st.integers(0, 10_000))
def test_each_stratum_gives_its_share_rounded(count: int, seed: int) -> None:
    drawn = Counter(one.stratum for one in sample_problems(TIERS, count, seed=seed, label="a"))
    for stratum, size in Counter(one.stratum for one in TIERS).items():
        assert abs(drawn[stratum] - count * size / len(TIERS)) < 2


def test_every_problem_has_the_same_chance() -> None:
    """A binomial check: 600 draws of 12 from 60 give each problem 120 ± 5 standard errors."""
    draws = 600
    for among in (PROBLEMS, TIERS):
        seen: Counter[str] = Counter()
        for seed in range(draws):
            seen.update(uids(sample_problems(among, 12, seed=seed, label="a")))
        counts = np.array([seen[one.problem_uid] for one in among])
        assert abs(counts - draws / 5).max() < 5 * np.sqrt(draws * 0.2 * 0.8)


def test_more_problems_leave_the_order_of_the_others() -> None:
    few = [one.problem_uid for one in PROBLEMS[:40]]
    many = [one.problem_uid for one in PROBLEMS]
    assert [uid for uid in shuffled(many, 5, "a") if uid in set(few)] == shuffled(few, 5, "a")


def test_uniform_numbers_are_uniform() -> None:
    values = np.array([uniform(1, n) for n in range(4000)])
    assert 0 <= values.min() < 0.002
    assert 0.998 < values.max() < 1
    assert values.mean() == pytest.approx(0.5, abs=0.02)


def message(category: str, benchmark: str, number: int, index: int = 1) -> Case:
    return Case(category, benchmark, f"{benchmark}:{number}", index)


def test_cases_span_benchmarks_as_far_as_they_can() -> None:
    candidates = [message("helpful", "big", n) for n in range(50)]
    candidates += [message("helpful", other, 0) for other in ("b", "c", "d")]
    chosen = choose_cases(candidates, {"helpful": 6}, seed=1, label="m")
    assert Counter(case.benchmark for case in chosen) == {"big": 3, "b": 1, "c": 1, "d": 1}


def test_small_categories_go_to_benchmarks_without_cases() -> None:
    candidates = [message("helpful", "a", n) for n in range(3)]
    candidates += [message("harmful", one, 9) for one in ("a", "b")]
    chosen = choose_cases(candidates, {"helpful": 1, "harmful": 1}, seed=1, label="m")
    assert [case.benchmark for case in chosen] == ["a", "b"]


def test_a_problem_gives_a_second_case_only_when_no_other_is_left() -> None:
    candidates = [message("helpful", "a", 1, index) for index in (1, 2, 3)]
    candidates += [message("helpful", "a", 2)]
    chosen = choose_cases(candidates, {"helpful": 3}, seed=1, label="m")
    assert {case.problem_uid for case in chosen[:2]} == {"a:1", "a:2"}
    assert chosen[2].problem_uid == "a:1"


def test_a_shortfall_takes_what_is_there_and_no_other_category() -> None:
    candidates = [message("helpful", "a", n) for n in range(2)] + [message("other", "a", 5)]
    chosen = choose_cases(candidates, {"helpful": 3, "harmful": 2}, seed=1, label="m")
    assert sorted(case.problem_uid for case in chosen) == ["a:0", "a:1"]


def test_cases_follow_from_the_seed_alone() -> None:
    candidates = [message("helpful", "ab"[n % 2], n) for n in range(20)]
    chosen = choose_cases(candidates, {"helpful": 5}, seed=4, label="m")
    assert chosen == choose_cases(candidates[::-1], {"helpful": 5}, seed=4, label="m")
    assert chosen != choose_cases(candidates, {"helpful": 5}, seed=5, label="m")
