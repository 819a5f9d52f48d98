"""What must hold for the scan's tables whatever the records are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dhd.analysis import accuracy, claims, decoding, effect_tables, majority, policy_tables, quality
from dhd.analysis.cells import SIX_COUNTS
from dhd.analysis.confidence import parse_confidence
from dhd.analysis.context import POOLED, Absent, AnalysisContext
from dhd.analysis.settings import AnalysisSettings
from dhd.analysis.signatures import normalise_answer
from support.scan_records import Scan, make_records

MODULES = (accuracy, effect_tables, majority, policy_tables, quality)
SETTINGS = AnalysisSettings(bootstrap_resamples=50)
FLIPPED = {1: 0, 0: 1, -1: -1}

ANSWERS = ("7", " 7", "Eight", "eight ", "9", "", None)
REPORTS = ("high", "80%", "0.8", "very low", "12", None, "medium, 35 %")


def random_pool(seed: int, size: int, lost: float) -> list[Scan]:
    """Return problems with any outcomes, of which a share is lost."""
    rng = np.random.default_rng(seed)

    def judgements(*shape: int) -> np.ndarray:
        values = rng.integers(0, 2, shape)
        return np.where(rng.random(shape) < lost, -1, values).astype(np.int8)

    return [
        Scan(
            independent=int(judgements(1)[0]),
            single=judgements(5),
            full=judgements(5),
            removal=judgements(4, 5),
            proposal=judgements(5),
            rendered=rng.random(5) < 0.9,
            answers=tuple(ANSWERS[i] for i in rng.integers(0, rng.integers(2, 8), 5)),
            confidence=tuple(REPORTS[i] for i in rng.integers(0, 7, 5)),
            full_answer=ANSWERS[rng.integers(7)],
            benchmark=("alpha", "beta")[rng.integers(2)],
        )
        for _ in range(size)
    ]


def _pools(lost: float) -> st.SearchStrategy[list[Scan]]:
    seeds, sizes = st.integers(0, 2**32 - 1), st.integers(1, 6)
    return st.builds(random_pool, seed=seeds, size=sizes, lost=st.just(lost))


pools, complete_pools = _pools(0.03), _pools(0.0)


def context_of(found: list[Scan], *, complete: bool = False) -> AnalysisContext:
    options = SETTINGS.model_copy(update={"require_complete_pool": {"m": complete}})
    return AnalysisContext(make_records({"m": found}), options)


def pooled_row(table: pd.DataFrame) -> pd.Series:
    return table[table["benchmark"] == POOLED].iloc[0]


def six_of(context: AnalysisContext, table: str = "table_10") -> list[int]:
    row = pooled_row(effect_tables.TABLES[table](context))
    return [int(row[name]) for name in SIX_COUNTS]


def six(found: list[Scan]) -> list[int]:
    return six_of(context_of(found))


def eligible(scan: Scan) -> list[bool]:
    return [
        bool(scan.rendered[i]) and bool(scan.answers[i]) and scan.proposal[i] >= 0 for i in range(5)
    ]


def naive_pairs(scan: Scan) -> list[tuple[int, int]]:
    """Pairs (K, i) that the eligible messages of a problem need, counted from 1."""
    return [(k, i) for k in range(2, 6) for i in range(1, k + 1) if eligible(scan)[i - 1]]


def naive_effect(scan: Scan, k: int, i: int) -> int | None:
    with_message, without = scan.full[k - 1], scan.removal[k - 2][i - 1]
    return None if min(with_message, without) < 0 else int(with_message - without)


def naive_sample(scan: Scan, *, complete: bool) -> str:
    qualifies = all(eligible(scan)) if complete else any(eligible(scan))
    if not qualifies:
        return "ineligible"
    whole = all(naive_effect(scan, k, i) is not None for k, i in naive_pairs(scan))
    return "complete" if whole else "partial"


@settings(max_examples=30, deadline=None)
@given(pools, st.booleans())
def test_effects_and_samples_equal_a_literal_count(found: list[Scan], complete: bool) -> None:
    expected = dict.fromkeys([(c, e) for c in (0, 1) for e in (1, 0, -1)], 0)
    single = dict(expected)
    samples, missing = [], 0
    for scan in found:
        samples.append(naive_sample(scan, complete=complete))
        if samples[-1] == "partial":
            missing += sum(naive_effect(scan, k, i) is None for k, i in naive_pairs(scan))
        if samples[-1] != "complete":
            continue
        for k, i in naive_pairs(scan):
            expected[scan.proposal[i - 1], naive_effect(scan, k, i)] += 1
        for i in range(5):
            if eligible(scan)[i] and min(scan.single[i], scan.independent) >= 0:
                single[scan.proposal[i], int(scan.single[i] - scan.independent)] += 1
    context = context_of(found, complete=complete)
    assert six_of(context) == list(expected.values())
    assert six_of(context, "table_08") == list(single.values())
    flow = pooled_row(accuracy.table_05(context))
    assert flow["complete_n"] == samples.count("complete")
    assert flow["partial_n"] == samples.count("partial")
    assert flow["loo_eligible_n"] == len(found) - samples.count("ineligible")
    assert flow["missing_pairs_n"] == missing


def naive_choice(scan: Scan, policy: str) -> list[int]:
    """Return the messages that a policy draws from, by the words of its definition."""
    answers = [normalise_answer(a) if a else None for a in scan.answers]
    votes = [1 if a is None or a == "" else answers.count(a) for a in answers]
    reports = [parse_confidence(c) for c in scan.confidence]
    right = [i for i in range(5) if scan.proposal[i] == 1]
    return {
        "random_message": list(range(5)),
        "answer_consensus": [i for i in range(5) if votes[i] == max(votes)],
        "highest_self_reported_confidence": [i for i in range(5) if reports[i] == max(reports)],
        "proposal_correctness_oracle": right or list(range(5)),
        "hindsight_best_recorded": [i for i in range(5) if scan.single[i] == max(scan.single)],
    }[policy]


def mean(values: Sequence[int | Fraction]) -> Fraction:
    return Fraction(sum(values), len(values))


@settings(max_examples=30, deadline=None)
@given(complete_pools)
def test_policies_equal_their_literal_definition(found: list[Scan]) -> None:
    context = context_of(found)
    table = policy_tables.table_14(context).set_index("policy")
    accuracies = {}
    for policy in table.index:
        results, discarded, admitted = [], [], []
        for scan in found:
            chosen = naive_choice(scan, policy)
            effect = [int(scan.single[i]) - scan.independent for i in range(5)]
            results.append(mean([int(scan.single[i]) for i in chosen]))
            helpful = mean([int(effect[i] == 1) for i in chosen])
            discarded.append(sum(e == 1 for e in effect) - helpful)
            admitted.append(mean([int(effect[i] == -1) for i in chosen]))
        accuracies[policy] = results
        row = table.loc[policy]
        assert row["accuracy_pct"] == pytest.approx(float(100 * mean(results)), abs=1e-10)
        assert row["helpful_discarded_per_problem"] == pytest.approx(float(mean(discarded)))
        assert row["harmful_admitted_per_problem"] == pytest.approx(float(mean(admitted)))
    best, oracle = "hindsight_best_recorded", "proposal_correctness_oracle"
    gaps = [b - o for b, o in zip(accuracies[best], accuracies[oracle], strict=True)]
    sources = policy_tables.table_16(context)
    assert sources["problems_n"].sum() == sum(gap > 0 for gap in gaps)
    assert sources["contribution_pp"].sum() == pytest.approx(float(100 * mean(gaps)), abs=1e-10)


@settings(max_examples=20, deadline=None)
@given(pools)
def test_majority_equals_its_literal_definition(found: list[Scan]) -> None:
    used = [s for s in found if min(s.proposal) >= 0 and s.full[4] >= 0]
    strict = followed = integrator_only = majority_only = 0
    for number, scan in enumerate(used):
        signatures = [
            "right"
            if scan.proposal[i] == 1
            else ("wrong", normalise_answer(scan.answers[i]))
            if scan.answers[i]
            else ("missing", number, i)
            for i in range(5)
        ]
        answer = scan.full_answer
        own = ("wrong", normalise_answer(answer)) if answer else ("missing", number, 5)
        integrator = "right" if scan.full[4] == 1 else own
        top = max(signatures, key=signatures.count)
        if signatures.count(top) >= 3:
            strict += 1
            followed += top == integrator
        majority_correct = sum(scan.proposal) >= 3
        integrator_only += scan.full[4] == 1 and not majority_correct
        majority_only += scan.full[4] == 0 and majority_correct
    row = majority.table_07(context_of(found)).iloc[0]
    assert row["problems_n"] == len(used)
    assert row["strict_majority_n"] == strict
    assert row["followed_n"] == followed
    assert row["integrator_only_n"] == integrator_only
    assert row["majority_only_n"] == majority_only


@settings(max_examples=20, deadline=None)
@given(pools)
def test_swapping_correct_and_wrong_proposals_swaps_the_cells(found: list[Scan]) -> None:
    swapped = [replace(s, proposal=np.array([FLIPPED[int(p)] for p in s.proposal])) for s in found]
    before = six(found)
    assert six(swapped) == before[3:] + before[:3]


@settings(max_examples=20, deadline=None)
@given(pools)
def test_swapping_outcomes_swaps_helpful_and_harmful(found: list[Scan]) -> None:
    flip = np.vectorize(FLIPPED.get, otypes=[np.int8])
    swapped = [replace(s, full=flip(s.full), removal=flip(s.removal)) for s in found]
    before = six(found)
    assert six(swapped) == [*reversed(before[:3]), *reversed(before[3:])]


@settings(max_examples=20, deadline=None)
@given(complete_pools, st.permutations(range(5)))
def test_order_of_messages_does_not_matter_at_full_size(
    found: list[Scan], order: list[int]
) -> None:
    permuted = [
        replace(
            s,
            single=s.single[order],
            proposal=s.proposal[order],
            rendered=s.rendered[order],
            answers=tuple(s.answers[i] for i in order),
            confidence=tuple(s.confidence[i] for i in order),
            removal=np.concatenate([s.removal[:3], s.removal[3:, order]]),
        )
        for s in found
    ]
    before, after = context_of(found), context_of(permuted)
    for table in (
        effect_tables.table_03,
        effect_tables.table_08,
        majority.table_07,
        policy_tables.table_13,
        policy_tables.table_14,
        policy_tables.table_15,
        policy_tables.table_16,
    ):
        pd.testing.assert_frame_equal(table(before), table(after))


@settings(max_examples=20, deadline=None)
@given(complete_pools)
def test_a_neutral_message_adds_to_neutral_cells_only(found: list[Scan]) -> None:
    def with_fifth(scan: Scan, *, shown: bool) -> Scan:
        """Make the fifth message neutral, and eligible or not; the first always counts."""
        rendered = np.array([True, *scan.rendered[1:4], shown])
        answers = ("7", *scan.answers[1:4], "7")
        removal = scan.removal.copy()
        removal[3, 4] = scan.full[4]
        return replace(scan, rendered=rendered, answers=answers, removal=removal)

    without = six([with_fifth(s, shown=False) for s in found])
    with_it = six([with_fifth(s, shown=True) for s in found])
    wrong = sum(int(s.proposal[4]) == 0 for s in found)
    correct = len(found) - wrong
    assert np.subtract(with_it, without).tolist() == [0, wrong, 0, 0, correct, 0]


@pytest.mark.parametrize("value", [0, 1])
def test_equal_outcomes_are_all_neutral(value: int) -> None:
    scan = Scan(
        independent=value,
        single=np.full(5, value),
        full=np.full(5, value),
        removal=np.full((4, 5), value),
        proposal=np.array([0, 0, 1, 1, 1]),
    )
    context = context_of([scan, scan])
    row = pooled_row(effect_tables.table_09(context))
    assert (row["wrong_messages_n"], row["flips_n"]) == (2 * 8, 0)
    assert np.isnan([row["helpful_share_pct"], row["ci_low"], row["ci_high"]]).all()
    assert six([scan, scan]) == [0, 16, 0, 0, 12, 0]
    assert set(accuracy.table_06(context)["accuracy_pct"]) == {100.0 * value}
    contrasts = policy_tables.table_15(context)
    assert (contrasts[["difference_pp", "ci_low", "ci_high"]] == 0).all(axis=None)
    assert policy_tables.table_16(context)["share_pct"].isna().all()


def test_one_problem_has_degenerate_intervals() -> None:
    scan = Scan(proposal=np.zeros(5), removal=np.ones((4, 5), dtype=np.int8))
    scan.removal[3, 1] = 0
    row = pooled_row(effect_tables.table_09(context_of([scan])))
    assert row[["helpful_share_pct", "ci_low", "ci_high"]].tolist() == [100.0, 100.0, 100.0]


@settings(max_examples=10, deadline=None)
@given(pools)
def test_every_table_and_claim_copes_with_any_records(found: list[Scan]) -> None:
    context = context_of(found)
    for module in MODULES:
        for name, table in module.TABLES.items():
            assert len(context.table(name, table)) > 0
    assert claims.text_claims(context, claims.CLAIMS)["claim_id"].is_unique


def test_records_without_any_judgement_give_blanks_not_zeros() -> None:
    missing = np.full((4, 5), -1)
    scan = Scan(-1, missing[0], missing[0], missing, missing[0], full_answer=None)
    context = context_of([scan, scan])
    assert six([scan, scan]) == [0] * 6
    assert figure_is_blank(accuracy.figure_06(context), "k5_accuracy_pct")
    assert figure_is_blank(effect_tables.figure_04(context), "flip_rate_pct")
    assert figure_is_blank(majority.table_07(context), "majority_correct_pct")
    assert figure_is_blank(policy_tables.table_14(context), "accuracy_pct")
    assert figure_is_blank(policy_tables.table_15(context), "difference_pp")
    # The protocol accuracy alone counts what is missing, as incorrect.
    assert set(accuracy.table_06(context)["accuracy_pct"]) == {0.0}
    rows = quality.quality(context)
    assert set(rows["judged_n"]) == {0}
    assert set(rows["missing_n"]) == {0}


def figure_is_blank(table: pd.DataFrame, column: str) -> bool:
    return len(table) > 0 and bool(table[column].isna().all())


def test_decoding_table_needs_a_config() -> None:
    with pytest.raises(Absent, match="config"):
        decoding.table_27(context_of([Scan()]))
