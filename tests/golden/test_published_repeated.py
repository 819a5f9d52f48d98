"""The paper's numbers that other published numbers determine, through our functions.

Values are those of arXiv 2608.14375v1 in ``resources/published``; a printed number must be the
exact one rounded to its printed decimals.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

from dhd.analysis import agreement, protocols, repeated
from dhd.analysis.frames import percent_of
from dhd.analysis.repeated.masking import CONDITIONS, SAMPLES
from dhd.analysis.repeated.replay_tables import wilson_interval
from dhd.analysis.repeated.separation_control import CATEGORIES, CELLS

MODELS = ("OSS", "Gemma")


@pytest.fixture(scope="module")
def published(project_root: Path) -> Path:
    return project_root / "resources" / "published"


def printed(folder: Path, name: str) -> pd.DataFrame:
    """Return a published table with its numbers as printed (texts)."""
    return pd.read_csv(folder / f"{name}.csv", dtype=str, keep_default_na=False)


def claim(folder: Path, name: str) -> Decimal:
    return Decimal(printed(folder, "text_claims").set_index("claim_id").loc[name, "value"])


def assert_printed(exact: float, text: str, what: object) -> None:
    """Check that a printed number is the exact one rounded."""
    half = Decimal(1).scaleb(Decimal(text).as_tuple().exponent) / 2
    distance = abs(Decimal(repr(float(exact))) - Decimal(text))
    assert distance <= half + Decimal("1e-9"), f"{what}: printed {text}, exact {exact}"


def test_table_17_disagreement_and_wilson_intervals(published: Path) -> None:
    """1,000 pairs a benchmark (Table 17's caption): the printed rate is the count over 10."""
    table = printed(published, "table_17")
    for model in MODELS:
        rows = table[table["model"] == model].set_index("benchmark")
        pairs = int(claim(published, "repeat_pairs_per_benchmark"))
        counts = {
            name: int(Decimal(row["disagreement_pct"]) * pairs / 100)
            for name, row in rows.iterrows()
            if name != "pooled"
        }
        totals = {name: (count, pairs) for name, count in counts.items()}
        totals["pooled"] = (sum(counts.values()), pairs * len(counts))
        for name, (count, total) in totals.items():
            assert_printed(percent_of(count, total), rows.loc[name, "disagreement_pct"], name)
            interval = wilson_interval(count, total)
            assert_printed(interval.low, rows.loc[name, "ci_low"], (model, name))
            assert_printed(interval.high, rows.loc[name, "ci_high"], (model, name))
        if model == "OSS":
            assert totals["pooled"][0] == claim(published, "disagreeing_pairs_oss")


def test_table_17_cells_sum_to_table_19(published: Path) -> None:
    cells = [f"{cell}_n" for cell in CELLS]
    table = printed(published, "table_17").astype(dict.fromkeys([*cells, "indeterminate_n"], int))
    observed = printed(published, "table_19").set_index(["model", "category"])["observed_n"]
    assert tuple(observed["OSS"].index) == CATEGORIES
    for model in MODELS:
        rows = table[table["model"] == model]
        pooled = rows[rows["benchmark"] == "pooled"].iloc[0]
        parts = rows[rows["benchmark"] != "pooled"]
        assert (
            parts[[*cells, "indeterminate_n"]].sum() == pooled[[*cells, "indeterminate_n"]]
        ).all()
        assert int(observed[model, "separated"]) == pooled[cells].sum()
        for cell in CELLS:
            assert int(observed[model, cell]) == pooled[f"{cell}_n"]


def test_permutation_p_is_the_smallest_that_5000_draws_can_give(published: Path) -> None:
    matching, draws = (
        int(claim(published, name)) for name in ("null_datasets_matching", "null_datasets")
    )
    assert_printed((1 + matching) / (1 + draws), str(claim(published, "permutation_p")), "p")


def test_table_21_share_of_resolved(published: Path) -> None:
    for _, row in printed(published, "table_21").iterrows():
        same, opposite = int(row["same_direction_n"]), int(row["opposite_n"])
        assert_printed(percent_of(same, same + opposite), row["same_among_resolved_pct"], row)
        total = same + opposite + int(row["unresolved_n"])
        assert total == int(row["original_wrong_helpful_n"])


def test_table_22_direction_of_the_swap(published: Path) -> None:
    row = printed(published, "table_22").set_index("matched_change").loc["integrator"]
    same, nonzero = (
        int(claim(published, f"integrator_swap_{name}")) for name in ("same_direction", "nonzero")
    )
    assert_printed(percent_of(same, nonzero), row["nonzero_direction_pct"], "swap")


def test_table_23_has_our_samples_and_conditions(published: Path) -> None:
    table = printed(published, "table_23")
    assert tuple(table["sample"].unique()) == SAMPLES
    assert tuple(table["condition"].unique()) == tuple(CONDITIONS.values())
    anchors = table[table["sample"] == "wrong_helpful"].set_index("condition")["success_pct"]
    for condition in ("remove", "neutral_replacement", "hide_answer", "hide_reasoning"):
        drop = Decimal(anchors["full"]) - Decimal(anchors[condition])
        assert drop == claim(published, f"masking_wh_drop_{condition}")


def test_table_24_gains_are_differences_and_weighted_means(published: Path) -> None:
    by_benchmark = printed(published, "table_25")
    for _, row in printed(published, "table_24").iterrows():
        gain = Decimal(row["crossfit_accuracy_pct"]) - Decimal(row["full_accuracy_pct"])
        assert abs(gain - Decimal(row["gain_pp"])) <= Decimal("0.015")
        parts = by_benchmark[by_benchmark["model"] == row["model"]]
        sizes = [int(n) for n in parts["problems_n"]]
        # Gains of 5 n folds come in half points: the printed two decimals fix the count.
        halves = [
            round(Decimal(g) * 10 * n / 100) for g, n in zip(parts["gain_pp"], sizes, strict=True)
        ]
        exact = percent_of(sum(halves), 10 * sum(sizes))
        assert_printed(exact, row["gain_pp"], row["model"])
        assert sum(sizes) == claim(published, f"crossfit_problems_{row['model'].lower()}")


def test_table_11_macro_is_the_mean_over_cells(published: Path) -> None:
    table = printed(published, "table_11")
    cells, macro = table[table["benchmark"] != "macro"], table[table["benchmark"] == "macro"]
    assert len(cells) == claim(published, "system_cells")
    for _, row in macro.iterrows():
        values = [
            Decimal(v) for v in cells.loc[cells["protocol"] == row["protocol"], "accuracy_pct"]
        ]
        mean = sum(values) / len(values)
        assert abs(mean - Decimal(row["accuracy_pct"])) <= Decimal("0.1"), row["protocol"]


def test_figure_09_and_table_28_ranges_are_the_claims(published: Path) -> None:
    pairs = printed(published, "figure_09")
    for name, column in (("pairwise", "agreement_pct"), ("kappa", "kappa")):
        values = [Decimal(value) for value in pairs[column]]
        assert min(values) == claim(published, f"evaluator_{name}_min")
        assert max(values) == claim(published, f"evaluator_{name}_max")
    for _, row in printed(published, "table_28").iterrows():
        for end in ("min", "max"):
            name = f"sixcell_agreement_{end}_{row['model'].lower()}"
            assert Decimal(row[f"pairwise_tuple_{end}_pct"]) == claim(published, name)


def test_we_offer_every_published_table_of_these_analyses(published: Path) -> None:
    offered = {*protocols.TABLES, *repeated.TABLES, *agreement.TABLES}
    expected = {f"table_{n}" for n in (11, 12, *range(17, 27), 28)} | {"figure_09"}
    assert offered == expected
    assert all((published / f"{name}.csv").is_file() for name in offered)
