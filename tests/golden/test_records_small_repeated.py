"""Tables 11, 12, 17 to 26, 28 and Figure 9 of the small reference records."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from dhd.analysis import agreement, protocols, repeated
from dhd.analysis.claims import text_claims
from dhd.analysis.context import AnalysisContext
from dhd.analysis.settings import AnalysisSettings
from dhd.records import load_records

TABLES = {**protocols.TABLES, **repeated.TABLES, **agreement.TABLES}
CLAIMS = (*protocols.CLAIMS, *repeated.CLAIMS, *agreement.CLAIMS)
KEYS = (
    "model",
    "benchmark",
    "k",
    "protocol",
    "proposed_answer",
    "category",
    "matched_change",
    "integrator",
    "sample",
    "condition",
    "arm",
    "control",
    "evaluator_a",
    "evaluator_b",
    "claim_id",
)
#: Blank in the reference where the paper does not print them; we compute them.
BLANK_IN_PAPER = {"bh_selected_n", "strict_n", "problems_n"}
#: A maximum of random draws has no useful tolerance.
UNCHECKED = {"null_max_pp"}


@pytest.fixture(scope="module")
def context(shared_dir: Path) -> AnalysisContext:
    return AnalysisContext(load_records(shared_dir / "records_small"), AnalysisSettings())


def tolerance(name: str, value: float, error: float) -> float:
    """Counts are exact, rates to 1e-9; sampled values to four standard errors of a difference."""
    if not math.isnan(error):
        return 4 * math.sqrt(2) * error + 1e-9 + (1 if name.endswith("_n") else 0)
    return 0 if name.endswith("_n") else 1e-9 * max(1, abs(value))


def mismatches(table: pd.DataFrame, expected: pd.DataFrame) -> list[str]:
    settings = AnalysisSettings()
    shown = settings.model_names | settings.benchmark_names
    shown |= {"direct": "Direct", "iterative": "Iterative", "per": "PER", "broadcast": "Broadcast"}
    keys = [name for name in KEYS if name in expected]
    text = dict.fromkeys(keys, str)
    ours = table.replace(shown).fillna(dict.fromkeys(keys, "")).astype(text).set_index(keys)
    theirs = expected.fillna(dict.fromkeys(keys, "")).astype(text).set_index(keys)
    assert ours.index.is_unique
    found = []
    for name in theirs.columns.difference(UNCHECKED):
        if name.endswith("_mcse"):
            continue
        for key, value in theirs[name].items():
            value, mine = float(value), float(ours.loc[key, name])
            error = theirs.loc[key].get(f"{name}_mcse", math.nan)
            if math.isnan(value):
                agrees = math.isnan(mine) or name in BLANK_IN_PAPER
            else:
                agrees = abs(mine - value) <= tolerance(name, value, error)
            if not agrees:
                found.append(f"{key} {name}: {mine} instead of {value}")
    return found


@pytest.mark.parametrize("name", sorted(TABLES))
def test_table(name: str, context: AnalysisContext, shared_dir: Path) -> None:
    expected = pd.read_csv(shared_dir / "records_small" / "expected" / f"{name}.csv")
    table = context.table(name, TABLES[name])
    assert len(table) == len(expected)
    assert mismatches(table, expected) == []


def test_claims(context: AnalysisContext, shared_dir: Path) -> None:
    expected = pd.read_csv(shared_dir / "records_small" / "expected" / "text_claims.csv")
    table = text_claims(context, CLAIMS)
    ours = expected[expected["claim_id"].isin(table["claim_id"])]
    assert len(ours) == len(expected) - 6  # six are claims of the scan
    assert mismatches(table, ours) == []
