"""Agreement of evaluators, triplets, scans and protocols, with hand-derived values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dhd.analysis import agreement, protocols
from dhd.analysis.agreement.kappa import confusion, kappa
from dhd.analysis.agreement.scans import scan_agreement
from dhd.analysis.context import Absent, AnalysisContext
from dhd.analysis.settings import AnalysisSettings
from dhd.cli import main
from dhd.errors import RecordsError
from dhd.records import Records
from support.scan_records import Scan, make_records

SETTINGS = AnalysisSettings()


def records_with(
    evaluations: pd.DataFrame | None = None, runs: pd.DataFrame | None = None
) -> Records:
    base = make_records({"oss": [Scan(benchmark="alpha"), Scan(benchmark="beta")]})
    return Records(base.problems, base.messages, base.outcomes, evaluations, runs)


def context_with(
    evaluations: pd.DataFrame | None = None, runs: pd.DataFrame | None = None
) -> AnalysisContext:
    return AnalysisContext(records_with(evaluations, runs), SETTINGS)


def evaluations(
    verdicts: dict[str, list[float]], triplets: list[str | None], kinds: list[str]
) -> pd.DataFrame:
    """Return evaluations: per evaluator one verdict a submission; NaN is not observed."""
    rows = [
        {
            "submission_id": f"s{at}",
            "model": "oss",
            "problem_uid": "alpha:0",
            "kind": kinds[at],
            "submitted": "7",
            "evaluator": name,
            "verdict": values[at],
            "triplet_id": triplets[at],
            "benchmark": "alpha",
        }
        for at in range(len(kinds))
        for name, values in verdicts.items()
    ]
    frame = pd.DataFrame(rows)
    frame["verdict"] = frame["verdict"].astype("Int8")
    return frame


def test_kappa_by_hand() -> None:
    """Cohen (1960): agreement .7, chance .5·.6 + .5·.4 = .5, κ = .2/.5."""
    table = np.array([[20, 5], [10, 15]])
    assert kappa(table) == pytest.approx(0.4)


def test_weighted_kappa_by_hand() -> None:
    """Linear weights over three labels: disagreement 1 a step, 2 across."""
    table = confusion([-1, -1, 0, 0, 1, 1], [-1, 0, 0, 1, 1, -1], (-1, 0, 1))
    # Observed distance (0 + 1 + 0 + 1 + 0 + 2)/6; both margins (1/3, 1/3, 1/3): expected 8/9.
    assert kappa(table, "linear") == pytest.approx(1 - (4 / 6) / (8 / 9))
    # Quadratic: observed (1 + 1 + 4)/6, expected (4·1 + 2·4)/9.
    assert kappa(table, "quadratic") == pytest.approx(1 - 1 / (12 / 9))


def test_kappa_is_undefined_where_chance_agrees_fully() -> None:
    assert np.isnan(kappa(np.array([[5, 0], [0, 0]])))
    assert np.isnan(kappa(np.zeros((2, 2), dtype=np.int64)))
    assert kappa(np.array([[5, 0], [0, 0]]) + np.array([[0, 1], [0, 0]])) == 0


def test_figure_09_counts_all_and_uses_valid_pairs() -> None:
    nan = float("nan")
    frame = evaluations(
        {"zeta": [1, 1, 0, nan, 1], "alpha": [1, 0, 0, 1, 0]},
        [None, None, None, None, "t"],
        ["proposed"] * 5,
    )
    row = context_with(frame).table("figure_09", agreement.TABLES["figure_09"]).iloc[0]
    assert (row["evaluator_a"], row["evaluator_b"]) == ("zeta", "alpha")
    assert (row["submissions_n"], row["valid_pairs_n"]) == (4, 3)
    assert row["agreement_pct"] == pytest.approx(200 / 3)
    # Pairs (1,1), (1,0), (0,0): agreement 2/3, chance 2/3·1/3 + 1/3·2/3 = 4/9.
    assert row["kappa"] == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    claims = {claim.claim_id: claim.value for claim in agreement.CLAIMS[0](context_with(frame))}
    assert claims["evaluator_coverage:zeta"] == 75
    assert claims["evaluator_coverage_max"] == 100
    assert claims["evaluator_models"] == 2


def test_table_28_by_hand() -> None:
    """Three triplets, three evaluators; the third misses one verdict and is left out."""
    kinds = ["proposed", "full", "removal"] * 3
    triplets = [f"t{at // 3}" for at in range(9)]
    frame = evaluations(
        {
            "a": [1, 1, 0, 0, 1, 1, 1, 1, 1],
            "b": [1, 1, 0, 0, 0, 0, 1, 1, 1],
            "c": [1, 1, 0, 1, 1, 1, 1, 1, float("nan")],
        },
        triplets,
        kinds,
    )
    row = context_with(frame).table("table_28", agreement.TABLES["table_28"]).iloc[0]
    assert row["triplets_n"] == 2
    # Second triplet: a–b agree on the proposal and Δ = 0, c differs on the proposal.
    assert (row["proposed_answer_min_pct"], row["proposed_answer_max_pct"]) == (50, 100)
    assert (row["direction_min_pct"], row["direction_max_pct"]) == (100, 100)
    assert (row["pairwise_tuple_min_pct"], row["pairwise_tuple_max_pct"]) == (50, 50)
    assert row["three_way_tuple_pct"] == 50


def test_a_triplet_with_two_submissions_of_a_kind_is_refused() -> None:
    frame = evaluations({"a": [1, 1], "b": [1, 1]}, ["t", "t"], ["full", "full"])
    with pytest.raises(RecordsError, match=r"triplet_id 't'.*'full'"):
        agreement.TABLES["table_28"](context_with(frame))


def test_absent_evaluations_are_named() -> None:
    alone = evaluations({"a": [1]}, [None], ["full"])
    for name, frame in (("figure_09", None), ("table_28", None), ("figure_09", alone)):
        with pytest.raises(Absent, match=r"evaluations\.parquet"):
            agreement.TABLES[name](context_with(frame))


def scans(removals: list[tuple[int, int]]) -> AnalysisContext:
    """Return a scan of one problem per entry: the K = 2 outcomes without message 1 and 2."""
    problems = []
    for first, second in removals:
        removal = np.ones((4, 5), dtype=np.int8)
        removal[1:] = -1
        removal[0, :2] = (first, second)
        problems.append(Scan(removal=removal, full=np.array([1, 1, -1, -1, -1])))
    return AnalysisContext(make_records({"oss": problems}), SETTINGS)


def test_scan_agreement_by_hand() -> None:
    """Effects 1 − removal: (0, 1, 0) against (0, 1, 1); one missing event is left out."""
    rows = scan_agreement(scans([(1, 0), (1, -1)]), scans([(1, 0), (0, 1)]))
    pooled = rows[rows["benchmark"] == "pooled"].iloc[0]
    assert pooled["events_n"] == 3
    assert pooled["agreement_pct"] == pytest.approx(200 / 3)
    # Neutral and helpful alone: linear and plain κ coincide: (2/3 − 4/9)/(5/9).
    assert pooled["weighted_kappa"] == pytest.approx(0.4)
    assert pooled["reversals_n"] == 0
    with pytest.raises(Absent, match="share no"):
        scan_agreement(scans([(-1, -1)]), scans([(1, 1)]))


def test_agreement_command(shared_dir: Path, tmp_path: Path) -> None:
    records = str(shared_dir / "records_small")
    out = tmp_path / "new" / "scan_agreement.csv"
    assert main(["agreement", "--records", records, "--records", records, "--out", str(out)]) == 0
    table = pd.read_csv(out)
    assert (table["agreement_pct"] == 100).all()
    assert (table["weighted_kappa"].dropna() == 1).all()
    assert main(["agreement", "--records", records, "--out", str(out)]) == 2


def runs_of(correct: dict[tuple[str, str, str], float]) -> pd.DataFrame:
    frame = pd.DataFrame(
        [
            {"protocol": p, "model": m, "problem_uid": u, "correct": value}
            for (p, m, u), value in correct.items()
        ]
    )
    frame["correct"] = frame["correct"].astype("Int8")
    return frame.assign(prompt_tokens=1500, completion_tokens=500, calls=3)


def test_protocols_use_the_matched_slice() -> None:
    nan = float("nan")
    correct = {
        ("direct", "oss", "alpha:0"): 1,
        ("per", "oss", "alpha:0"): 0,
        ("direct", "oss", "beta:1"): 1,
        ("per", "oss", "beta:1"): 1,
    }
    context = context_with(runs=runs_of(correct))
    rows = context.table("table_11", protocols.TABLES["table_11"])
    macro = rows[rows["benchmark"] == "macro"].set_index("protocol")["accuracy_pct"]
    assert macro.to_dict() == {"direct": 100, "per": 50}
    costs = context.table("table_12", protocols.TABLES["table_12"])
    assert (costs["tokens_thousands_per_problem"] == 2).all()
    assert (costs["logged_calls_per_problem"] == 3).all()
    partial = context_with(runs=runs_of({**correct, ("per", "oss", "beta:1"): nan}))
    rows = partial.table("table_11", protocols.TABLES["table_11"])
    assert set(rows["benchmark"]) == {"alpha", "macro"}
    with pytest.raises(Absent, match=r"protocol_runs\.parquet"):
        protocols.TABLES["table_11"](context_with())
