"""What the matrices leave out: every effect that is not counted has one reason."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dhd.analysis import effect_tables
from dhd.analysis.cells import SIX_COUNTS
from dhd.analysis.context import AnalysisContext
from dhd.analysis.left_out import left_out
from dhd.analysis.settings import AnalysisSettings
from dhd.records import Records
from support.scan_records import Scan, make_records

REASONS = ["missing_n", "failed_n", "unjudged_n", "no_answer_n"]


def counts(records: Records, **options: object) -> pd.DataFrame:
    """Return the pooled rows of model m by unit."""
    table = left_out(AnalysisContext(records, AnalysisSettings(**options)))
    return table[(table["benchmark"] == "pooled") & (table["model"] == "m")].set_index("unit")


def change(records: Records, condition: str, k: int, index: int, status: str | None) -> Records:
    """Give an outcome of the last problem another status; without one the row goes."""
    rows = records.outcomes.astype({"status": "str"})
    last = rows["problem_uid"] == rows["problem_uid"].cat.categories[-1]
    chosen = last & (rows["condition"] == condition) & (rows["k"] == k)
    chosen &= rows["message_index"] == index
    assert chosen.sum() == 1
    if status is None:
        rows = rows[~chosen]
    else:
        rows.loc[chosen, ["correct", "status"]] = [pd.NA, status]
    return Records(records.problems, records.messages, rows.astype({"status": "category"}))


def test_one_unjudged_outcome_leaves_its_problem_out() -> None:
    records = make_records({"m": [Scan() for _ in range(20)]})
    found = counts(change(records, "full", 3, 0, "unjudged"))
    # As in the demo: 95 of 100 messages and 266 of 280 in-pool effects.
    assert found.loc["problem", ["all_n", "counted_n", "unjudged_n"]].tolist() == [20, 19, 1]
    assert found.loc["single", ["all_n", "counted_n", "unjudged_n"]].tolist() == [100, 95, 5]
    assert found.loc["loo", ["all_n", "counted_n", "unjudged_n"]].tolist() == [280, 266, 14]
    assert found[["missing_n", "failed_n", "no_answer_n"]].to_numpy().sum() == 0


@pytest.mark.parametrize(
    ("statuses", "reason"),
    [
        (("unjudged", "failed"), "failed_n"),
        (("failed", None), "missing_n"),
        (("unjudged", None), "missing_n"),
    ],
)
def test_a_problem_with_several_reasons_has_the_worst(
    statuses: tuple[str | None, str | None], reason: str
) -> None:
    records = make_records({"m": [Scan(), Scan()]})
    for k, status in zip((2, 4), statuses, strict=True):
        records = change(records, "removal", k, 1, status)
    found = counts(records)
    assert found.loc["problem", ["counted_n", reason]].tolist() == [1, 1]
    assert found.loc["loo", ["counted_n", reason]].tolist() == [14, 14]


def test_a_single_that_is_not_observed_leaves_out_one_effect() -> None:
    records = make_records({"m": [Scan(), Scan()]})
    found = counts(change(records, "single", 1, 2, "failed"))
    assert found.loc["problem", "counted_n"] == 2
    assert found.loc["single", ["counted_n", "failed_n"]].tolist() == [9, 1]
    assert found.loc["loo", "counted_n"] == 28


def test_a_message_without_an_answer_counts_nowhere_or_costs_its_pool() -> None:
    records = make_records({"m": [Scan(answers=("7", None, "7", "7", "7"))]})
    found = counts(records)
    assert found.loc["problem", "counted_n"] == 1
    assert found.loc["single", ["counted_n", "no_answer_n"]].tolist() == [4, 1]
    assert found.loc["loo", ["counted_n", "no_answer_n"]].tolist() == [10, 4]
    whole = counts(records, require_complete_pool={"m": True})
    assert whole.loc["problem", ["counted_n", "no_answer_n"]].tolist() == [0, 1]
    assert whole.loc["loo", ["counted_n", "no_answer_n"]].tolist() == [0, 14]


judgements = st.sampled_from([-1, 0, 1, 1, 1, 1])
fives = st.lists(judgements, min_size=5, max_size=5).map(np.array)
scans = st.builds(
    Scan,
    independent=judgements,
    single=fives,
    full=st.one_of(st.just(np.ones(5, dtype=int)), fives),
    proposal=fives,
    rendered=st.lists(st.booleans(), min_size=5, max_size=5).map(np.array),
    benchmark=st.sampled_from(["alpha", "beta"]),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(scans, min_size=1, max_size=5), st.booleans())
def test_what_is_counted_is_what_the_matrices_hold(found: list[Scan], whole: bool) -> None:
    options = AnalysisSettings(require_complete_pool={"m": whole})
    context = AnalysisContext(make_records({"m": found}), options)
    table = left_out(context)
    assert (table["all_n"] == table["counted_n"] + table[REASONS].sum(axis=1)).all()
    for unit, cells in (("single", effect_tables.table_08), ("loo", effect_tables.table_10)):
        six = cells(context)[list(SIX_COUNTS)].sum(axis=1)
        assert table.loc[table["unit"] == unit, "counted_n"].tolist() == six.tolist()
