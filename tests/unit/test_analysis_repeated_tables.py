"""Tables 17 to 26 from records whose numbers follow by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dhd.analysis import repeated
from dhd.analysis.context import Absent, AnalysisContext
from dhd.analysis.repeated.blocks import ReplayBlocks
from dhd.analysis.repeated.studies import repeats_of
from dhd.analysis.settings import AnalysisSettings, InferenceSettings
from dhd.records import Records
from support.replay_blocks import M, make_blocks, random_blocks
from support.replay_records import replay_records

SMALL = AnalysisSettings(bootstrap_resamples=200, permutation_draws=200, crossfit_null_draws=100)
#: Message 1 is needed in every block (helpful), message 2 is what makes the pool fail.
NEEDED, POISON, SAME = [1, 1, 0, 1, 1, 1, 1], [0, 0, 0, 1, 0, 0, 0], [1] * 7


def context_of(records: Records, settings: AnalysisSettings = SMALL) -> AnalysisContext:
    return AnalysisContext(records, settings)


def table(context: AnalysisContext, name: str) -> pd.DataFrame:
    return context.table(name, repeated.TABLES[name])


@pytest.fixture
def repeats() -> ReplayBlocks:
    """Return three problems: one helpful wrong, one harmful correct message, one with a gap."""
    outcomes = np.array([[NEEDED] * 5, [POISON] * 5, [SAME] * 5], dtype=np.int8)
    outcomes[2, 0, 1] = 0
    outcomes[2, 4, 6] = M
    proposals = [[0, 1, 1, 1, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, 1]]
    return make_blocks(outcomes, proposals, benchmarks=["alpha", "alpha", "beta"])


def test_records_become_the_same_arrays(repeats: ReplayBlocks) -> None:
    records = replay_records({"repeats": [repeats]})
    shuffled = records.outcomes.sample(frac=1, random_state=1)
    again = Records(records.problems, records.messages, shuffled)
    for source in (records, again):
        found = repeats_of(context_of(source))["oss"]
        assert (found.outcomes == repeats.outcomes).all()
        assert (found.proposals == repeats.proposals).all()
        assert found.strict.tolist() == [True, True, False]
        assert found.benchmarks.tolist() == ["alpha", "alpha", "beta"]


def test_table_17(repeats: ReplayBlocks) -> None:
    rows = table(context_of(replay_records({"repeats": [repeats]})), "table_17")
    assert rows["benchmark"].tolist() == ["alpha", "beta", "pooled"]
    assert rows["disagreement_pct"].tolist() == pytest.approx([0, 20, 100 / 15])
    assert rows["wrong_helpful_n"].tolist() == [1, 0, 1]
    assert rows["correct_harmful_n"].tolist() == [1, 0, 1]
    assert rows["indeterminate_n"].tolist() == [8, 5, 13]


def test_table_19_counts_strict_and_selected(repeats: ReplayBlocks) -> None:
    rows = table(context_of(replay_records({"repeats": [repeats]})), "table_19")
    rows = rows.set_index("category")
    assert rows["observed_n"].to_dict() == {
        "separated": 2,
        "wrong_helpful": 1,
        "wrong_harmful": 0,
        "correct_helpful": 0,
        "correct_harmful": 1,
    }
    assert rows["strict_n"].to_dict() == rows["observed_n"].to_dict()
    # Each separated message: 1/7 per block for the one placement, p = 2·(1/7)^5 or so: kept.
    assert rows.loc["separated", "bh_selected_n"] == 2


def test_monte_carlo_is_close_to_exact() -> None:
    study = random_blocks(np.random.default_rng(2), 30)
    records = replay_records({"repeats": [study]})
    sampled = SMALL.model_copy(
        update={"inference": InferenceSettings(method="monte_carlo", monte_carlo_draws=20_000)}
    )
    exact_rows, sampled_rows = (
        table(context_of(records, settings), "table_20") for settings in (SMALL, sampled)
    )
    gap = (exact_rows["raw_p_le_05_n"] - sampled_rows["raw_p_le_05_n"]).abs()
    assert gap.max() <= 1
    assert (exact_rows["eligible_problems_n"] == sampled_rows["eligible_problems_n"]).all()


def test_table_20_screens_all_models_and_each() -> None:
    strong = make_blocks(np.tile(NEEDED, (3, 5, 1)), benchmarks=["alpha", "alpha", "beta"])
    none = make_blocks(
        np.ones((4, 5, 7)), model="gemma", benchmarks=["alpha", "alpha", "beta", "beta"]
    )
    rows = table(context_of(replay_records({"repeats": [strong, none]})), "table_20")
    rows = rows.set_index("model")
    assert rows["eligible_problems_n"].to_dict() == {"both": 7, "oss": 3, "gemma": 4}
    assert rows["bh_selected_n"].to_dict() == {"both": 3, "oss": 3, "gemma": 0}
    assert rows["coverage_benchmarks_n"].to_dict() == {"both": 2, "oss": 2, "gemma": 0}
    assert rows["coverage_of_n"].to_dict() == {"both": 2, "oss": 2, "gemma": 2}


def test_table_22_by_hand(repeats: ReplayBlocks) -> None:
    """Order run: problem 0 repeats its effect, problem 1 loses it; p002 is not in it."""
    order = make_blocks([[NEEDED] * 3, [SAME] * 3], benchmarks=["alpha", "alpha"])
    swap = make_blocks([[POISON] * 3], integrator="gemma", benchmarks=["alpha"])
    records = replay_records({"repeats": [repeats], "order": [order], "integrator_swap": [swap]})
    rows = table(context_of(records), "table_22").set_index("matched_change")
    # Shifts over ten messages: message 2 of problem 1 goes from −1 to 0.
    assert rows.loc["order", "mean_shift_pp"] == pytest.approx(10)
    assert rows.loc["order", "exact_sign_pct"] == pytest.approx(90)
    assert rows.loc["order", "nonzero_direction_pct"] == 100
    assert rows.loc["order", "messages_n"] == 10
    assert rows.loc["order", "ci_low"] <= 10 <= rows.loc["order", "ci_high"]
    # Swap over five: message 1 goes from 1 to 0, message 2 from 0 to −1.
    assert rows.loc["integrator", "mean_shift_pp"] == pytest.approx(-40)
    assert np.isnan(rows.loc["integrator", "nonzero_direction_pct"])
    assert rows.loc["integrator", "pearson_r"] == pytest.approx(0.25)
    assert rows.loc["integrator", "integrator"] == "gemma"


def test_table_23_by_hand(repeats: ReplayBlocks) -> None:
    """Message 1 of p000 is wrong-helpful, message 1 of p002 indeterminate."""
    case = {
        "full": [[1, 1], [1, 0]],
        "repeat": [[1, 1], [M, 0]],
        "removal": [[0], [0]],
        "neutral": [[1], [0]],
        "mask_answer": [[1], [M]],
        "mask_reasoning": [[0], [1]],
    }
    records = replay_records(
        {"repeats": [repeats]},
        {("oss", "p000", 1): case, ("oss", "p002", 1): case},
    )
    rows = table(context_of(records), "table_23")
    assert rows["sample"].unique().tolist() == ["wrong_helpful", "indeterminate"]
    helpful = rows[rows["sample"] == "wrong_helpful"].set_index("condition")
    assert helpful["success_pct"].to_dict() == {
        "full": 75,
        "repeat": 50,
        "remove": 0,
        "neutral_replacement": 50,
        "hide_answer": 100,
        "hide_reasoning": 50,
    }
    assert (helpful["cases_n"] == 1).all()


def test_cross_fit_tables_use_complete_problems(repeats: ReplayBlocks) -> None:
    context = context_of(replay_records({"repeats": [repeats]}))
    row = table(context, "table_24").iloc[0]
    # Problem 1: removing message 2 turns all five folds; problem 0 keeps all.
    assert (row["problems_n"], row["folds_n"]) == (2, 10)
    assert (row["full_accuracy_pct"], row["crossfit_accuracy_pct"]) == (50, 100)
    assert (row["rescues_n"], row["harms_n"]) == (5, 0)
    assert table(context, "table_25")["benchmark"].tolist() == ["alpha"]
    assert table(context, "table_25")["gain_pp"].tolist() == [50]
    assert table(context, "table_26")["observed_gain_pp"].tolist() == [50] * 4


def test_same_seed_same_tables_other_seed_other_intervals() -> None:
    study = random_blocks(np.random.default_rng(4), 20, missing=0.02, benchmarks=2)
    records = replay_records({"repeats": [study]})
    other = SMALL.model_copy(update={"seed": SMALL.seed + 1})
    for name in ("table_18", "table_19", "table_24", "table_26"):
        first, again = (table(context_of(records), name) for _ in range(2))
        pd.testing.assert_frame_equal(first, again)
        assert first.to_csv() == again.to_csv()
        assert not first.equals(table(context_of(records, other), name))


def test_tables_say_what_is_missing(repeats: ReplayBlocks) -> None:
    context = context_of(replay_records({"order": [repeats]}))
    for name in repeated.TABLES:
        with pytest.raises(Absent, match="study"):
            table(context, name)
    nothing = make_blocks(np.full((2, 5, 7), M))
    context = context_of(replay_records({"repeats": [nothing]}))
    with pytest.raises(Absent, match="every slot"):
        table(context, "table_24")
    assert table(context, "table_17")["indeterminate_n"].tolist() == [10, 10]
    assert table(context, "table_20")["eligible_problems_n"].tolist() == [0, 0]
    assert np.isnan(table(context, "table_18")["mean_effect_pp"]).all()


def test_claims_come_from_the_tables(repeats: ReplayBlocks) -> None:
    context = context_of(replay_records({"repeats": [repeats]}))
    claims: dict[str, float] = {}
    for function in repeated.CLAIMS:
        try:
            claims |= {claim.claim_id: claim.value for claim in function(context)}
        except Absent:
            continue
    assert claims["repeat_events_oss"] == 104
    assert claims["repeat_missing_oss"] == 1
    assert claims["separated_oss"] == 2
    assert claims["disagreeing_pairs_oss"] == 1
    assert claims["crossfit_problems_oss"] == 2
    assert claims["crossfit_missing_problem_oss"] == 1
    assert claims["crossfit_gain_oss"] == 50
    assert claims["repeat_observations_per_problem"] == 35
    assert claims["by_messages_oss"] == claims["by_messages"]
