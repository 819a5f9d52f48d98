"""The paper's numbers that its own counts determine, through the functions that make ours.

Published values are those of arXiv 2608.14375v1 in ``resources/published``. A printed number
must be the exact one rounded to its printed decimals.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dhd.analysis import claims, policy_tables
from dhd.analysis.accuracy import table_01
from dhd.analysis.cells import SIX_COUNTS
from dhd.analysis.context import MACRO, POOLED, AnalysisContext, Claim
from dhd.analysis.effects import (
    FLIP_COUNTS,
    direction_rows,
    effect_shares,
    flip_rates,
    non_neutral,
    off_diagonal_rows,
    pooled_counts,
)
from dhd.analysis.frames import percent_of
from dhd.analysis.majority import majority_rates
from dhd.analysis.settings import AnalysisSettings
from support.scan_records import Scan, make_records


@pytest.fixture(scope="module")
def published(project_root: Path) -> Path:
    return project_root / "resources" / "published"


def printed(folder: Path, name: str) -> pd.DataFrame:
    """Return a published table with its numbers as printed (texts)."""
    return pd.read_csv(folder / f"{name}.csv", dtype=str, keep_default_na=False)


def counts_of(folder: Path, name: str) -> pd.DataFrame:
    table = printed(folder, name)
    return table.astype({column: int for column in table.columns if column.endswith("_n")})


def assert_printed(exact: float, text: str, what: object, slack: str = "0") -> None:
    """Check that a printed number is the exact one rounded; ``slack`` allows rounded inputs."""
    half = Decimal(1).scaleb(Decimal(text).as_tuple().exponent) / 2
    distance = abs(Decimal(repr(float(exact))) - Decimal(text))
    allowed = half + Decimal(slack) + Decimal("1e-9")
    assert distance <= allowed, f"{what}: printed {text}, exact {exact}"


def assert_column_printed(exact: pd.Series, texts: pd.Series, what: str, slack: str = "0") -> None:
    assert len(exact) == len(texts) > 0
    for row, (value, text) in enumerate(zip(exact, texts, strict=True)):
        assert_printed(value, text, f"{what}, row {row}", slack)


def test_table_10_sums_to_its_pooled_rows_and_to_table_04(published: Path) -> None:
    counts = counts_of(published, "table_10")
    pooled = counts[counts["benchmark"] == POOLED].reset_index(drop=True)
    summed = pooled_counts(counts[counts["benchmark"] != POOLED], POOLED)
    pd.testing.assert_frame_equal(summed, pooled, check_dtype=False)
    table_04 = counts_of(published, "table_04")
    loo = table_04[table_04["replay"] == "loo"].reset_index(drop=True)
    pd.testing.assert_frame_equal(summed[loo.columns], loo, check_dtype=False)


def test_table_08_sums_to_table_04(published: Path) -> None:
    counts = counts_of(published, "table_08")
    summed = pooled_counts(counts[counts["benchmark"] != POOLED], POOLED)
    table_04 = counts_of(published, "table_04")
    row = table_04[(table_04["replay"] == "single") & (table_04["model"] == "OSS")]
    assert summed[list(SIX_COUNTS)].to_numpy().tolist() == row[list(SIX_COUNTS)].to_numpy().tolist()


def test_figure_04_follows_from_table_10(published: Path) -> None:
    counts = counts_of(published, "table_10")
    rows = direction_rows(counts[counts["benchmark"] == POOLED].reset_index(drop=True))
    figure = printed(published, "figure_04")
    for key in ("model", "proposed_answer", "replay", "k"):
        assert list(rows[key]) == list(figure[key])
    for name in ("flip_rate_pct", "helpful_share_pct", "harmful_share_pct"):
        assert_column_printed(rows[name], figure[name], name)
    for name in ("helpful_n", "harmful_n"):
        assert list(rows[name]) == [int(text) for text in figure[name]]


def test_figure_07_follows_from_table_10(published: Path) -> None:
    counts = counts_of(published, "table_10")
    keys = ["model", "benchmark", "panel"]
    rows = off_diagonal_rows(counts[counts["benchmark"] != POOLED]).set_index(keys)
    figure = printed(published, "figure_07").set_index(keys)
    rows = rows.loc[figure.index]
    for name in ("share_of_flips_pct", "flip_rate_pct", "flips_n"):
        assert_column_printed(rows[name], figure[name], name)


def test_table_09_follows_from_table_10(published: Path) -> None:
    counts = counts_of(published, "table_10")
    shares = effect_shares(counts[counts["model"] == "OSS"], "wrong")
    table = printed(published, "table_09")
    for ours, name in (
        ("messages_n", "wrong_messages_n"),
        ("flips_n", "flips_n"),
        ("helpful_share_pct", "helpful_share_pct"),
    ):
        assert_column_printed(shares[ours], table[name], name)


@pytest.fixture(scope="module")
def released(published: Path) -> pd.DataFrame:
    """Return the released counts behind Figure 8, named as ours."""
    table = counts_of(published / "released", "figure_08").astype({"k": int})
    return table.rename(columns={"eligible_n": "labels_n"})


def test_table_03_is_the_k5_slice_of_the_released_counts(
    published: Path, released: pd.DataFrame
) -> None:
    rows = non_neutral(released[released["k"] == 5])
    table = printed(published, "table_03")
    assert list(rows["benchmark"]) == list(table["benchmark"])
    for name in ("labels_n", *FLIP_COUNTS, "non_neutral_n"):
        assert list(rows[name]) == [int(text) for text in table[name]], name


def test_released_counts_sum_over_k_to_table_10(published: Path, released: pd.DataFrame) -> None:
    summed = released.groupby("benchmark", sort=False)[["labels_n", *FLIP_COUNTS]].sum()
    table = counts_of(published, "table_10").query("model == 'OSS' and benchmark != 'pooled'")
    table = table.set_index("benchmark").loc[summed.index]
    assert (summed[list(FLIP_COUNTS)] == table[list(FLIP_COUNTS)]).all(axis=None)
    assert (summed["labels_n"] == table[list(SIX_COUNTS)].sum(axis=1)).all()
    # 91,740 eligible pairs (experimental setup).
    assert summed["labels_n"].sum() == 91_740


def test_figure_08_rates(released: pd.DataFrame) -> None:
    row = flip_rates(released).iloc[0]
    assert row["labels_n"] == 8347
    assert row["wrong_helpful_pct"] == pytest.approx(100 * 192 / 8347)
    assert row["correct_harmful_pct"] == pytest.approx(100 * 94 / 8347)


def test_majority_diagnostic_follows_from_its_released_counts(published: Path) -> None:
    released = pd.read_csv(published / "released" / "majority_by_benchmark.csv")
    exact = {
        "majority_correct_n": released["majority_correct_share"] * released["problems_n"],
        "integrator_correct_n": released["integrator_share"] * released["problems_n"],
        "followed_n": released["strict_follow_share"] * released["strict_majority_n"],
    }
    for name, values in exact.items():
        released[name] = values.round().astype(int)
        assert np.allclose(values, released[name], atol=1e-6), f"{name} are not whole counts"
    rates = majority_rates(released)
    for name, share in (
        ("majority_correct_pct", "majority_correct_share"),
        ("integrator_accuracy_pct", "integrator_share"),
        ("follow_rate_pct", "strict_follow_share"),
    ):
        assert np.allclose(rates[name], 100 * released[share], rtol=1e-9)
    # Where the integrator and the majority differ explains the difference of their accuracies.
    difference = rates["integrator_correct_n"] - rates["majority_correct_n"]
    assert (difference == rates["integrator_only_n"] - rates["majority_only_n"]).all()
    pooled = rates[rates["benchmark"] == POOLED].reset_index(drop=True)
    parts = rates[rates["benchmark"] != POOLED].groupby("model", sort=False)
    for name in (*exact, "problems_n", "integrator_only_n", "majority_only_n", "strict_majority_n"):
        assert list(parts[name].sum()) == list(pooled[name]), name
    table = printed(published, "table_07")
    for name in (column for column in table.columns if column.endswith(("_pct", "_n"))):
        assert_column_printed(pooled[name], table[name], name)


def test_figure_06_is_the_exact_percentages_rounded(published: Path) -> None:
    exact = pd.read_csv(published / "released" / "figure_06_exact.csv")
    figure = printed(published, "figure_06")
    # The release prints Gemma's percentages with four decimals.
    tolerance = np.where(exact["model"] == "OSS", 1e-9, 5e-5)
    for ours, theirs in (
        ("k0_accuracy_pct", "independent_pct"),
        ("k5_accuracy_pct", "full_pool_pct"),
        ("candidate_available_pct", "candidate_available_pct"),
    ):
        counts = (exact[theirs] * exact["problems_n"] / 100).round().astype(int)
        percentages = [
            percent_of(count, n) for count, n in zip(counts, exact["problems_n"], strict=True)
        ]
        assert (np.abs(percentages - exact[theirs]) <= tolerance).all(), theirs
        assert_column_printed(pd.Series(percentages), figure[ours], ours)


@pytest.fixture(scope="module")
def context(published: Path) -> AnalysisContext:
    """Return a context in which published tables stand for computed ones."""
    records = make_records({"OSS": [Scan()], "Gemma": [Scan()]})
    context = AnalysisContext(records, AnalysisSettings())
    for name in ("table_05", "table_06", "table_07", "table_09", "table_10", "table_13"):
        table = pd.read_csv(published / f"{name}.csv")
        if name == "table_06":
            table["problems_n"] = 1
        if name == "table_09":
            table["helpful_n"] = counts_of(published, "table_10")["wrong_helpful_n"].iloc[:6]
        context.table(name, lambda _, table=table: table)
    for name in ("figure_06", "table_14"):
        table = pd.read_csv(published / f"{name}.csv")
        context.table(name, lambda _, table=table: table)
    return context


def test_table_06_holds_table_01(context: AnalysisContext, published: Path) -> None:
    table = printed(published, "table_01")
    rows = table_01(context)
    assert rows[["model", "benchmark"]].equals(table[["model", "benchmark"]])
    assert_column_printed(rows["k0_accuracy_pct"], table["k0_accuracy_pct"], "K=0")
    assert_column_printed(rows["k5_accuracy_pct"], table["k5_accuracy_pct"], "K=5")
    # Both accuracies are rounded to 0.1.
    assert_column_printed(rows["delta_pp"], table["delta_pp"], "difference", "0.1")


def test_macro_rows_are_unweighted_means(published: Path) -> None:
    table = printed(published, "table_06").astype({"k": int})
    benchmarks = table[table["benchmark"] != MACRO].astype({"accuracy_pct": float})
    means = benchmarks.groupby(["model", "k"])["accuracy_pct"].mean()
    macro = table[table["benchmark"] == MACRO].set_index(["model", "k"])["accuracy_pct"]
    assert_column_printed(means.loc[macro.index], macro, "macro", "0.05")


def assert_claims(found: list[Claim], published: Path, slack: str, at_least: int) -> None:
    texts = printed(published, "text_claims").set_index("claim_id")["value"]
    known = [claim for claim in found if claim.claim_id.lower() in texts]
    assert len(known) >= at_least
    for claim in known:
        assert_printed(claim.value, texts[claim.claim_id.lower()], claim.claim_id, slack)


def test_effect_claims_follow_from_tables_09_and_10(
    context: AnalysisContext, published: Path
) -> None:
    found = list(claims.effect_claims(context))
    assert_claims(found, published, "0", 5)
    counts = counts_of(published, "table_10")
    rates = effect_shares(counts[counts["benchmark"] == POOLED], "wrong")
    texts = printed(published, "text_claims").set_index("claim_id")["value"]
    for model, helpful, messages in zip(
        ("oss", "gemma"), rates["helpful_n"], rates["messages_n"], strict=True
    ):
        exact = percent_of(helpful, messages)
        assert_printed(exact, texts[f"helpful_rate_all_wrong_{model}"], model)


def test_integration_claims_follow_from_tables_07_and_13(
    context: AnalysisContext, published: Path
) -> None:
    assert_claims(list(claims.integration_claims(context)), published, "0", 8)


def test_accuracy_claims_follow_from_table_06_and_figure_06(
    context: AnalysisContext, published: Path
) -> None:
    # Differences of two accuracies, each rounded to 0.1.
    assert_claims(list(claims.accuracy_claims(context)), published, "0.1", 6)


def test_sample_flow_of_gemma(published: Path) -> None:
    flow = counts_of(published, "table_05").set_index("benchmark")
    assert (flow["complete_n"] + flow["partial_n"] == flow["loo_eligible_n"]).all()
    texts = printed(published, "text_claims").set_index("claim_id")["value"]
    pooled = flow.loc[POOLED]
    assert pooled["protocol_n"] - pooled["loo_eligible_n"] == int(texts["gemma_no_complete_pool"])
    assert pooled["complete_n"] == int(texts["gemma_complete_loo_problems"])
    # Complete pools: five messages a problem, fourteen (K, i) pairs.
    assert 5 * pooled["complete_n"] == int(texts["headline_messages_gemma"])
    assert 14 * pooled["complete_n"] == int(texts["loo_eligible_gemma"])
    table_10 = counts_of(published, "table_10").query("model == 'Gemma'").set_index("benchmark")
    assert (table_10[list(SIX_COUNTS)].sum(axis=1) == 14 * flow["complete_n"]).all()


def test_contrasts_and_gaps_are_differences_of_table_14(published: Path) -> None:
    policies = printed(published, "table_14").set_index(["model", "policy"])["accuracy_pct"]
    accuracy = policies.astype(float)
    contrasts = printed(published, "table_15")
    for model, contrast, text in zip(
        contrasts["model"], contrasts["contrast"], contrasts["difference_pp"], strict=True
    ):
        first, second = policy_tables.CONTRASTS[contrast]
        assert_printed(accuracy[model, first] - accuracy[model, second], text, contrast, "0.1")
    sources = printed(published, "table_16").astype({"contribution_pp": float})
    for model, part in sources.groupby("model", sort=False):
        gap = accuracy[model, "hindsight_best_recorded"]
        gap -= accuracy[model, "proposal_correctness_oracle"]
        assert part["contribution_pp"].sum() == pytest.approx(gap, abs=0.11)


def test_decoding_and_design_claims(published: Path, context: AnalysisContext) -> None:
    roles = printed(published, "table_27")
    settings = {
        role: (float(temperature), int(tokens))
        for role, temperature, tokens in roles.itertuples(index=False)
    }
    with_decoding = AnalysisContext(context.records, context.settings, settings)
    assert_claims(list(claims.decoding_claims(with_decoding)), published, "0", 2)
    own = {"design_benchmarks", "loo_bootstrap_seed"}
    found = [c for c in claims.design_claims(context) if c.claim_id not in own]
    assert_claims(found, published, "0", 9)
