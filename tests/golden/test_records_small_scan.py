"""The scan's tables of the small reference records against their expected values."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from dhd.analysis import accuracy, claims, effect_tables, majority, policy_tables
from dhd.analysis.context import AnalysisContext
from dhd.analysis.settings import AnalysisSettings
from dhd.records import load_records

TABLES = {
    name: table
    for module in (accuracy, effect_tables, majority, policy_tables)
    for name, table in module.TABLES.items()
}
KEYS = (
    "model",
    "benchmark",
    "replay",
    "k",
    "policy",
    "contrast",
    "gap_source",
    "proposed_answer",
    "panel",
    "claim_id",
)


@pytest.fixture(scope="module")
def context(shared_dir: Path) -> AnalysisContext:
    return AnalysisContext(load_records(shared_dir / "records_small"), AnalysisSettings())


def compare(table: pd.DataFrame, expected: pd.DataFrame) -> int:
    """Compare by key: counts exactly, rates to 1e-9, bounds to four Monte Carlo errors."""
    settings = AnalysisSettings()
    shown = settings.model_names | settings.benchmark_names
    keys = [name for name in KEYS if name in expected]
    ours = table.replace(shown).astype(dict.fromkeys(keys, str)).set_index(keys)
    theirs = expected.astype(dict.fromkeys(keys, str)).set_index(keys)
    compared = 0
    for name in theirs.columns:
        if name.endswith("_mcse"):
            continue
        for key, value in theirs[name].items():
            found = ours.loc[key, name]
            error = theirs.loc[key].get(f"{name}_mcse", math.nan)
            allowed = 4 * math.sqrt(2) * error + 1e-9 if error == error else 1e-9 * abs(value)
            allowed = 0 if name.endswith("_n") else max(allowed, 1e-9)
            if math.isnan(value):
                assert math.isnan(found), (key, name)
            else:
                assert abs(found - value) <= allowed, (key, name, found, value)
            compared += 1
    return compared


@pytest.mark.parametrize("name", sorted(set(TABLES) - {"table_15_by_benchmark"}))
def test_table(name: str, context: AnalysisContext, shared_dir: Path) -> None:
    expected = pd.read_csv(shared_dir / "records_small" / "expected" / f"{name}.csv")
    table = context.table(name, TABLES[name])
    assert len(table) == len(expected)
    assert compare(table, expected) > 0


def test_claims_of_the_scan(context: AnalysisContext, shared_dir: Path) -> None:
    expected = pd.read_csv(shared_dir / "records_small" / "expected" / "text_claims.csv")
    table = claims.text_claims(context, claims.CLAIMS)
    ours = expected[expected["claim_id"].isin(table["claim_id"])]
    assert len(ours) == 6
    assert compare(table, ours.drop(columns="value_mcse")) == 6
