"""Tables of the scan on records small enough to work out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from dhd.analysis import accuracy, claims, decoding, effect_tables, majority, policy_tables, quality
from dhd.analysis.confidence import parse_confidence
from dhd.analysis.context import Absent, AnalysisContext
from dhd.analysis.settings import AnalysisSettings
from dhd.analysis.signatures import CORRECT, answer_codes, normalise_answer
from dhd.records import Records
from support.scan_records import Scan, make_records

SETTINGS = AnalysisSettings(bootstrap_resamples=200)


def context_of(records: Records, **settings: object) -> AnalysisContext:
    return AnalysisContext(records, SETTINGS.model_copy(update=settings))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (None, 0.5),
        ("", 0.5),
        ("no idea", 0.5),
        ("high", 0.8),
        ("Very  High", 0.95),
        ("VERY-LOW.", 0.2),
        ("low", 0.35),
        ("medium to high", 0.6),
        ("very medium", 0.6),
        ("highly", 0.5),
        ("high, say 40%", 0.4),
        ("70 %", 0.7),
        ("100%", 1.0),
        ("140%, that is 90%", 0.9),
        ("140%", 0.5),
        ("120% or 0.25", 0.25),
        ("0.35, or 60%", 0.6),
        ("confidence: 0.35", 0.35),
        (".5", 0.5),
        ("low, yet 0.9", 0.9),
        ("8 out of 10, 0.8", 0.8),
        ("-0.5, low", 0.35),
        ("0.6-0.8", 0.6),
        ("1", 1.0),
        ("57.3%", 0.573),
        ("x0.9", 0.5),
        ("9" * 5000 + "%", 0.5),
    ],
)
def test_confidence_reads_percentage_then_number_then_word(text: str | None, value: float) -> None:
    assert parse_confidence(text) == value


def test_answers_are_compared_after_normalisation() -> None:
    assert normalise_answer("  Two \t apples\n") == "two apples"
    codes = answer_codes(np.array([[" A b", "a  B", None, None, "  ", "c"]], dtype=object))[0]
    assert codes[0] == codes[1] != codes[5]
    missing = codes[2:5]
    assert len(set(missing)) == 3
    assert (missing < CORRECT).all()


def test_missing_independent_outcome_is_incorrect_in_accuracy_and_no_pair_in_effects() -> None:
    context = context_of(make_records({"m": [Scan(independent=-1), Scan()]}))
    row = accuracy.figure_06(context).iloc[0]
    assert (row["k0_accuracy_pct"], row["k5_accuracy_pct"]) == (50.0, 100.0)
    assert effect_tables.table_08(context).iloc[0]["correct_neutral_n"] == 5
    assert effect_tables.table_10(context).iloc[0]["correct_neutral_n"] == 28


def test_only_the_outcomes_that_eligible_messages_need_make_a_problem_complete() -> None:
    only_fifth = np.array([False, False, False, False, True])
    scan = Scan(rendered=only_fifth, full=np.array([-1, -1, -1, -1, 1]))
    records = make_records({"m": [scan]})
    flow = accuracy.table_05(context_of(records)).iloc[0]
    assert (flow["loo_eligible_n"], flow["complete_n"]) == (1, 1)
    flow = accuracy.table_05(context_of(records, require_complete_pool={"m": True})).iloc[0]
    assert (flow["loo_eligible_n"], flow["complete_n"]) == (0, 0)


def test_missing_full_outcome_loses_every_pair_of_its_size() -> None:
    flow = accuracy.table_05(
        context_of(make_records({"m": [Scan(full=np.array([1, 1, 1, -1, 1]))]}))
    ).iloc[0]
    assert (flow["complete_n"], flow["partial_n"], flow["missing_pairs_n"]) == (0, 1, 4)


def test_macro_average_weighs_benchmarks_equally() -> None:
    scans = [Scan(), Scan(), Scan(), Scan(independent=0, benchmark="beta")]
    table = accuracy.table_01(context_of(make_records({"m": scans}))).set_index("benchmark")
    assert table["k0_accuracy_pct"].to_dict() == {"alpha": 100.0, "beta": 0.0, "macro": 50.0}
    assert table["delta_pp"].to_dict() == {"alpha": 0.0, "beta": 100.0, "macro": 50.0}
    assert table["problems_n"].to_dict() == {"alpha": 3, "beta": 1, "macro": 4}


def test_models_and_benchmarks_follow_the_config_then_the_alphabet() -> None:
    scans = [Scan(benchmark=name) for name in ("zeta", "mascqa", "omni_math_2")]
    context = context_of(make_records({"zoe": scans, "gemma": scans[:1], "oss": scans}))
    table = effect_tables.table_10(context)
    assert list(table["model"].unique()) == ["oss", "gemma", "zoe"]
    assert list(table["benchmark"][table["model"] == "zoe"]) == [
        "omni_math_2",
        "mascqa",
        "zeta",
        "pooled",
    ]
    # A model's rows are those of the benchmarks that its scan has.
    assert list(table["benchmark"][table["model"] == "gemma"]) == ["zeta", "pooled"]


def test_majority_signature_of_wrong_answers_can_be_followed() -> None:
    wrong = Scan(
        proposal=np.array([0, 0, 0, 1, 1]),
        answers=("Eight", " eight", "EIGHT", "7", "7"),
        full=np.array([1, 1, 1, 1, 0]),
        full_answer="eight",
    )
    other = Scan(
        proposal=np.array([0, 0, 0, 1, 1]), answers=(None, None, None, "7", "7"), full_answer=None
    )
    row = majority.table_07(context_of(make_records({"m": [wrong, other]}))).iloc[0]
    assert (row["strict_majority_n"], row["follow_rate_pct"]) == (1, 100.0)
    # Three missing answers agree with nobody, not even with each other.
    assert (row["integrator_only_n"], row["majority_correct_pct"]) == (1, 0.0)


def test_success_patterns() -> None:
    none = np.zeros(5, dtype=np.int8)
    fails = np.array([1, 1, 1, 1, 0])
    scans = [Scan(), Scan(full=fails), Scan(single=none), Scan(single=none, full=fails)]
    scans.append(Scan(single=np.array([1, 1, 1, 1, -1])))
    scans.append(Scan(full=np.array([1, 1, 1, 1, -1])))
    scans.append(Scan(independent=-1))
    row = policy_tables.table_13(context_of(make_records({"m": scans}))).iloc[-1]
    assert row.tolist() == ["m", "pooled", 4, 1, 1, 1, 1]


def test_gap_sources() -> None:
    wrong_route = Scan(
        proposal=np.array([1, 0, 0, 0, 0]), single=np.array([0, 1, 0, 0, 0]), answers=tuple("abcde")
    )
    mixed = Scan(proposal=np.array([1, 1, 0, 0, 0]), single=np.array([1, 0, 0, 0, 0]))
    no_correct = Scan(proposal=np.zeros(5), single=np.array([1, 0, 0, 0, 0]))
    # Only wrong proposals, but all of them succeed: nothing is lost by drawing at random.
    no_gap = Scan(proposal=np.zeros(5))
    context = context_of(make_records({"m": [wrong_route, mixed, no_correct, no_gap, Scan()]}))
    table = policy_tables.table_16(context).set_index("gap_source")
    # Gaps: 1, 1/2 and 4/5 over five problems.
    assert table["problems_n"].tolist() == [2, 1]
    assert table["contribution_pp"].tolist() == pytest.approx([36.0, 10.0])
    assert table["share_pct"].tolist() == pytest.approx([100 * 1.8 / 2.3, 100 * 0.5 / 2.3])


def test_contrasts_do_not_depend_on_which_tables_were_asked_before() -> None:
    rng = np.random.default_rng(7)
    scans = [
        Scan(single=rng.integers(0, 2, 5), proposal=rng.integers(0, 2, 5), benchmark=name)
        for name in ("alpha", "beta") * 10
    ]
    first, second = (context_of(make_records({"m": scans})) for _ in range(2))
    policy_tables.table_15_by_benchmark(second)
    effect_tables.table_09(second)
    assert policy_tables.table_15(first).equals(policy_tables.table_15(second))


def test_quality_counts_statuses_and_gaps() -> None:
    scan = Scan(
        single=np.array([1, 1, 1, -1, -1]),
        proposal=np.array([1, 1, 1, 1, -1]),
        confidence=("high", "high", None, "", "high"),
    )
    rows = quality.quality(context_of(make_records({"m": [scan]}))).set_index("stage")
    singles = rows.loc["single"]
    assert (singles["ok_n"], singles["failed_n"], singles["missing_n"]) == (3, 2, 0)
    messages = rows.loc["messages"]
    assert (messages["ok_n"], messages["unjudged_n"], messages["missing_n"]) == (4, 1, 0)
    assert (messages["complete_fields_n"], messages["complete_fields_pct"]) == (3, 60.0)
    assert rows.loc["full", "expected_n"] == 5
    assert rows.loc["removal", "expected_n"] == 14


def test_quality_tells_unjudged_and_failed_rows_from_missing_ones() -> None:
    outcomes = make_records({"m": [Scan(single=np.array([1, 1, 1, -1, -1]))]})
    rows = outcomes.outcomes.astype({"status": "str"})
    single = (rows["condition"] == "single").to_numpy()
    index = rows["message_index"].to_numpy()
    rows.loc[single & (index == 4), "status"] = "unjudged"
    rows = rows[~(single & (index == 1))].astype({"status": "category"})
    context = context_of(Records(outcomes.problems, outcomes.messages, rows))
    found = quality.quality(context).set_index("stage").loc["single"]
    names = ["ok_n", "unjudged_n", "failed_n", "missing_n", "judged_n", "rows_n", "expected_n"]
    assert found[names].tolist() == [2, 1, 1, 1, 2, 4, 5]


def test_quality_counts_absent_rows_as_missing() -> None:
    records = make_records({"m": [Scan()]})
    kept = records.outcomes[(records.outcomes["condition"] != "removal").to_numpy()]
    context = context_of(Records(records.problems, records.messages, kept))
    removal = quality.quality(context).set_index("stage").loc["removal"]
    assert (removal["rows_n"], removal["expected_n"], removal["missing_n"]) == (0, 14, 14)
    # A row that is absent is not observed: the problem is partial, with all pairs missing.
    assert accuracy.table_05(context).iloc[0]["missing_pairs_n"] == 14


def test_tables_of_the_scan_are_absent_without_a_scan() -> None:
    records = make_records({"m": [Scan()]})
    context = context_of(Records(records.problems, records.messages, records.outcomes.iloc[:0]))
    with pytest.raises(Absent, match="scan"):
        effect_tables.table_10(context)
    found = claims.text_claims(context, claims.CLAIMS).set_index("claim_id")["value"]
    assert found["design_model_families"] == 1
    assert "macro_delta_m" not in found


def test_decoding_table_lists_roles_in_order() -> None:
    given = {"evaluator": (0.0, 4096), "judge": (0.5, 10), "recruiter": (0.0, 2048)}
    context = AnalysisContext(make_records({"m": [Scan()]}), SETTINGS, given)
    assert decoding.table_27(context).to_numpy().tolist() == [
        ["recruiter", 0.0, 2048],
        ["evaluator", 0.0, 4096],
        ["judge", 0.5, 10],
    ]
    # The claim is about recruiter, integrator and evaluator alone.
    found = {claim.claim_id: claim.value for claim in claims.decoding_claims(context)}
    assert found == {"temperature_other_roles": 0.0}
