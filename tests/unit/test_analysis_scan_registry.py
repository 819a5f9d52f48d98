"""The registry of tables: names, absence, and independence of order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dhd.analysis import registry
from dhd.analysis.context import AnalysisContext
from dhd.analysis.registry import TABLES, compute_tables
from dhd.analysis.settings import AnalysisSettings
from dhd.records import Records
from support.scan_records import Scan, make_records

SETTINGS = AnalysisSettings(bootstrap_resamples=100, permutation_draws=20, crossfit_null_draws=20)


@pytest.fixture(scope="module")
def records() -> Records:
    rng = np.random.default_rng(11)
    scans = [
        Scan(
            single=rng.integers(0, 2, 5),
            full=rng.integers(0, 2, 5),
            removal=rng.integers(0, 2, (4, 5)),
            proposal=rng.integers(0, 2, 5),
            answers=tuple(rng.choice(["7", "8", "9"], 5)),
            benchmark=name,
        )
        for name in ("alpha", "beta") * 15
    ]
    return make_records({"m": scans, "n": scans[:20]})


def test_the_registry_has_every_table_of_the_paper_once() -> None:
    names = [name for module in registry._MODULES for name in module.TABLES]
    assert len(names) == len(set(names))
    numbered = {f"table_{number:02}" for number in range(1, 29)}
    figures = {f"figure_{number:02}" for number in (4, 6, 7, 8, 9)}
    further = {"table_15_by_benchmark", "quality", "left_out", "text_claims"}
    assert set(TABLES) == numbered | figures | further


def test_tables_without_their_records_are_absent_with_a_reason(records: Records) -> None:
    computed = compute_tables(records, SETTINGS)
    assert set(computed.tables) | set(computed.absent) == set(TABLES)
    assert not set(computed.tables) & set(computed.absent)
    assert {"table_10", "figure_08", "quality", "text_claims"} <= set(computed.tables)
    assert "masking" in computed.absent["table_23"]
    assert "config" in computed.absent["table_27"]
    given = compute_tables(records, SETTINGS, {"recruiter": (0.0, 2048)})
    assert "table_27" in given.tables


def test_claims_are_unique_and_numbers(records: Records) -> None:
    claims = compute_tables(records, SETTINGS).tables["text_claims"]
    assert claims["claim_id"].is_unique
    assert claims["value"].dtype == np.float64


def test_tables_do_not_depend_on_the_order_of_computation(records: Records) -> None:
    forwards = compute_tables(records, SETTINGS).tables
    context = AnalysisContext(records, SETTINGS)
    for name in reversed(list(forwards)):
        pd.testing.assert_frame_equal(context.table(name, TABLES[name]), forwards[name])


def test_tables_do_not_depend_on_the_order_of_rows(records: Records) -> None:
    shuffled = replace(
        records,
        messages=records.messages.sample(frac=1, random_state=1).reset_index(drop=True),
        outcomes=records.outcomes.sample(frac=1, random_state=2).reset_index(drop=True),
    )
    expected = compute_tables(records, SETTINGS).tables
    for name, table in compute_tables(shuffled, SETTINGS).tables.items():
        pd.testing.assert_frame_equal(table, expected[name])


def test_another_seed_moves_intervals_and_nothing_else(records: Records) -> None:
    first = compute_tables(records, SETTINGS).tables["table_09"]
    other = SETTINGS.model_copy(update={"seed": SETTINGS.seed + 1})
    second = compute_tables(records, other).tables["table_09"]
    drawn = ["ci_low", "ci_high"]
    assert not first[drawn].equals(second[drawn])
    pd.testing.assert_frame_equal(first.drop(columns=drawn), second.drop(columns=drawn))


def test_all_expected_tables_of_the_reference_records_are_there(shared_dir: Path) -> None:
    expected = {path.stem for path in (shared_dir / "records_small" / "expected").glob("*.csv")}
    assert expected <= set(TABLES)
