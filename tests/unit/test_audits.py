"""Audit samples: balanced, frozen by seed, made of saved answers."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhd.analysis.context import AnalysisContext
from dhd.analysis.settings import AnalysisSettings
from dhd.audits import balanced, saved_submissions, saved_triplets
from dhd.records import Records
from support.scan_records import Scan, make_records

Item = tuple[str, str, int]


def draw(
    items: list[Item], count: int, seed: int = 1, earlier: list[Item] | None = None
) -> list[Item]:
    return balanced(
        items,
        count,
        stratum=lambda item: item[0],
        group=lambda item: item[1],
        key=lambda item: f"{item[1]}/{item[2]}",
        seed=seed,
        label="test",
        earlier=[f"{item[1]}/{item[2]}" for item in earlier or ()],
    )


def items_of(sizes: dict[str, int], groups: int = 100) -> list[Item]:
    return [(name, f"g{n % groups}", n) for name, size in sizes.items() for n in range(size)]


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 20), max_size=6),
    st.integers(0, 80),
)
def test_shares_are_equal_up_to_what_strata_have(sizes: dict[str, int], count: int) -> None:
    drawn = draw(items_of(sizes), count)
    assert len(drawn) == min(count, sum(sizes.values()))
    assert len(set(drawn)) == len(drawn)
    got = Counter(item[0] for item in drawn)
    for name, size in sizes.items():
        if got[name] < size:  # not used up: no other stratum is ahead by more than one
            assert max(got.values(), default=0) - got[name] <= 1


def test_a_larger_sample_contains_the_smaller() -> None:
    items = items_of({"a": 3, "b": 10, "c": 7})
    samples = [draw(items, count) for count in range(21)]
    for smaller, larger in pairwise(samples):
        assert larger[: len(smaller)] == smaller


def test_the_order_of_items_does_not_matter_and_the_seed_does() -> None:
    items = items_of({"a": 30, "b": 30})
    assert draw(items, 20) == draw(items[::-1], 20)
    assert draw(items, 20) != draw(items, 20, seed=2)


def test_every_group_comes_before_any_comes_twice() -> None:
    drawn = draw(items_of({"a": 12}, groups=4), 12)
    for start in range(0, 12, 4):
        assert len({item[1] for item in drawn[start : start + 4]}) == 4


@given(st.integers(0, 30), st.integers(0, 40), st.integers(0, 40))
def test_an_earlier_draw_stays_while_strata_are_as_many(few: int, first: int, more: int) -> None:
    """All numbers are distinct within a stratum, so keys of the same group and number are too."""
    items = items_of({"a": 60}, groups=7)
    before = draw(items[:few], first)
    now = draw(items, len(before) + more, earlier=before)
    assert now[: len(before)] == before
    assert draw(items, len(now), earlier=now) == now
    assert draw(items, 20, earlier=draw(items, 10)) == draw(items, 20)


def test_a_new_stratum_takes_its_share_and_the_rest_is_of_the_earlier_draw() -> None:
    old = [("a", f"a{n}", n) for n in range(20)] + [("b", f"b{n}", n) for n in range(20)]
    before = draw(old, 12)
    grown = [(name, f"{name}{n}", n) for name in "abc" for n in range(40)]
    now = draw(grown, 12, earlier=before)
    assert Counter(item[0] for item in now) == {"a": 4, "b": 4, "c": 4}
    assert {item for item in now if item[0] != "c"} < set(before)


@pytest.fixture
def records() -> Records:
    """Two problems: in the first, removing message 2 at K = 5 breaks a right result."""
    removal = np.ones((4, 5), dtype=np.int8)
    removal[3, 1] = 0
    proposal = np.asarray([1, 0, 1, 1, 1], dtype=np.int8)
    first = Scan(proposal=proposal, removal=removal, answers=("7", "8", "7", "7", "7"))
    second = Scan(answers=("7", "7", None, "7", "7"), full_answer=None)
    return make_records({"one": [first, second]})


def test_submissions_are_all_saved_answers(records: Records) -> None:
    saved = list(saved_submissions(records))
    assert len({one.submission_id for one in saved}) == len(saved)
    kinds = Counter(one.kind for one in saved)
    messages = records.messages["proposed_answer_extracted"]
    assert kinds["proposed"] == messages.notna().sum()
    outcomes = records.outcomes
    given = outcomes[outcomes["answer"].notna()]
    for kind in ("independent", "single", "full", "removal"):
        assert kinds[kind] == (given["condition"] == kind).sum()
    assert all(one.submitted and one.triplet_id is None for one in saved)


def test_triplets_join_the_three_answers_of_a_label(records: Records) -> None:
    context = AnalysisContext(records, AnalysisSettings())
    triplets = list(saved_triplets(records, context.scans["one"]))
    labels = {(one.problem_uid, one.k, one.message_index): one.cell for one in triplets}
    assert labels["alpha:0", 5, 2] == "wrong_helpful"
    assert labels["alpha:0", 5, 1] == "correct_neutral"
    assert set(labels.values()) == {"wrong_helpful", "wrong_neutral", "correct_neutral"}
    outcomes = records.outcomes
    for one in triplets:
        mine = outcomes[(outcomes["problem_uid"] == one.problem_uid) & (outcomes["k"] == one.k)]
        full = mine[mine["condition"] == "full"]["answer"].iloc[0]
        at = (mine["condition"] == "removal") & (mine["message_index"] == one.message_index)
        assert (one.full, one.removal) == (full, mine[at]["answer"].iloc[0])
        rows = one.submissions()
        assert [row.kind for row in rows] == ["proposed", "full", "removal"]
        assert {row.triplet_id for row in rows} == {one.triplet_id}
        assert len({row.submission_id for row in rows}) == 3
