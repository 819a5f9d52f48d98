"""The comparison with published numbers: distances, matching of rows, exit codes."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

from dhd.analysis.settings import AnalysisSettings
from dhd.cli import main
from dhd.errors import RecordsError
from dhd.report.compare import compare_tables, distance
from dhd.report.compare_report import render_comparison
from dhd.report.labels import Labels
from dhd.report.measured import is_measured

LABELS = Labels(AnalysisSettings())


@pytest.fixture
def published(project_root: Path) -> Path:
    return project_root / "resources" / "published"


@pytest.mark.parametrize(
    ("kind", "theirs", "ours", "expected", "unit"),
    [
        ("accuracy_pct", 70.0, 72.5, 2.5, "points"),
        ("gain_pp", -1.0, 1.0, 2.0, "points"),
        ("flips_n", 2000, 1900, 5.0, "%"),
        ("flips_n", 7, 9, 2.0, "counts"),
        ("tokens_thousands_per_problem", 20.0, 21.0, 5.0, "%"),
        ("kappa", 0.85, 0.83, 2.0, "hundredths"),
    ],
)
def test_distance_by_kind(
    kind: str, theirs: float, ours: float, expected: float, unit: str
) -> None:
    assert distance(kind, theirs, ours) == (pytest.approx(expected), unit)


def _gains(**columns: object) -> dict[str, pd.DataFrame]:
    base = {"model": ["OSS"], "benchmark": ["pooled"], "gain_pp": [1.0]}
    return {"table_24": pd.DataFrame({**base, "ci_low": [0.5], "ci_high": [1.5], **columns})}


def test_raw_keys_match_display_names() -> None:
    ours = _gains(model=["oss"], gain_pp=[3.0])
    (found,) = compare_tables(_gains(), ours, LABELS).compared
    assert (found.distance, found.unit, found.overlap) == (2.0, "points", True)
    assert found.exceeds(1.9)
    assert not found.exceeds(2.0)


@pytest.mark.parametrize(("low", "overlap"), [(1.4, True), (1.5, True), (1.6, False)])
def test_intervals_overlap_when_they_share_a_point(low: float, overlap: bool) -> None:
    ours = _gains(gain_pp=[2.0], ci_low=[low], ci_high=[3.0])
    (found,) = compare_tables(_gains(), ours, LABELS).compared
    assert found.overlap is overlap
    assert found.distance == pytest.approx(1.5)


def test_null_ranges_are_intervals_of_their_own() -> None:
    frame = pd.DataFrame({"model": ["a"], "null_low_n": [1], "null_high_n": [4], "observed_n": [9]})
    ours = frame.assign(null_low_n=[5], null_high_n=[8])
    found = {c.column: c for c in compare_tables({"t": frame}, {"t": ours}, LABELS).compared}
    assert set(found) == {"null_range_n", "observed_n"}
    assert found["null_range_n"].overlap is False
    assert found["observed_n"].distance == 0


def test_rows_columns_tables_and_numbers_of_one_side_are_listed() -> None:
    theirs = _gains(gain_pp=[None], printed_pct=[3.0]) | {
        "table_01": pd.DataFrame({"model": ["x"]})
    }
    ours = {"table_24": pd.concat([_gains()["table_24"], _gains(model=["mine"])["table_24"]])}
    listed = {(o.table, o.side, o.what) for o in compare_tables(theirs, ours, LABELS).one_sided}
    assert ("table_01", "published", "the whole table") in listed
    assert ("table_24", "published", "column printed_pct") in listed
    assert ("table_24", "ours", "mine") in listed


def test_claims_take_their_unit_from_the_published_row() -> None:
    theirs = pd.DataFrame({"claim_id": ["a", "b"], "value": [200.0, 0.5], "unit": ["n", "p_value"]})
    ours = pd.DataFrame({"claim_id": ["b", "a"], "value": [0.48, 210.0], "model": ["x", "y"]})
    found = compare_tables({"text_claims": theirs}, {"text_claims": ours}, LABELS).compared
    assert [(c.row, round(c.distance, 9), c.unit) for c in found] == [
        ("a", 5.0, "%"),
        ("b", 2.0, "hundredths"),
    ]


def test_equal_keys_are_refused() -> None:
    double = {"table_24": pd.concat([_gains()["table_24"]] * 2)}
    with pytest.raises(RecordsError, match=r"table_24 \(ours\): two rows for"):
        compare_tables(_gains(), double, LABELS)


def test_names_cannot_inject_markup() -> None:
    name = "<img src=x>|y"
    ours = _gains(model=[name])
    outcome = compare_tables(_gains(model=[name]), ours, LABELS)
    files = render_comparison(outcome, 1.0)
    both = {"table_24": pd.concat([_gains()["table_24"], ours["table_24"]])}
    one_sided = render_comparison(compare_tables(_gains(), both, LABELS), 1.0)
    for rendered in (files, one_sided):
        assert b"<img" not in rendered["comparison.html"] + rendered["comparison.md"]
    assert b"&lt;img" in one_sided["comparison.html"]


def _run(published: Path, tables: Path, out: Path, *extra: str) -> int:
    arguments = ["compare", "--tables", tables, "--published", published, "--out", out, *extra]
    return main([str(argument) for argument in arguments])


def test_equal_folders_pass_and_a_changed_number_fails(published: Path, tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    shutil.copytree(published, tables)
    assert _run(published, tables, tmp_path / "same", "--tolerance", "0") == 0
    path = tables / "table_24.csv"
    path.write_text(path.read_text().replace("1.68", "4.68"))
    assert _run(published, tables, tmp_path / "changed") == 1
    report = (tmp_path / "changed" / "comparison.md").read_text()
    assert "| +3 | 3 points | overlap | exceeds |" in report
    assert _run(published, tables, tmp_path / "lenient", "--tolerance", "3") == 0


def test_missing_row_is_said_and_does_not_fail(published: Path, tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    shutil.copytree(published, tables)
    path = tables / "table_24.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    assert _run(published, tables, tmp_path / "out") == 0
    for suffix in ("md", "html"):
        text = (tmp_path / "out" / f"comparison.{suffix}").read_text()
        assert "only published" in text
        assert "Gemma" in text


def test_nothing_in_common_is_said(
    published: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "table_24.csv").write_text("model,benchmark,gain_pp\nmine,my_exam,1\n")
    # Seeds and counts over all models are in both, and say nothing of the models.
    (tmp_path / "text_claims.csv").write_text(
        "claim_id,quantity,value,unit,model\nloo_bootstrap_seed,s,7,seed,\n"
        "system_tokens_low,t,18,thousand_tokens,mine\nmasking_outcomes,m,880,n,mine\n"
        "cells_with_wrong_helpful,c,3,n,\nbootstrap_level,l,95,pct,\n"
    )
    assert _run(published, tmp_path, tmp_path / "out") == 2
    said = capsys.readouterr()
    assert "nothing to compare" in said.err
    assert f"none of your models (mine) is among those of {published} (Gemma, OSS)" in said.err
    for suffix in ("md", "html", "csv"):
        assert f"{tmp_path}/out/comparison.{suffix}" in said.out
    assert "only published" not in (tmp_path / "out" / "comparison.md").read_text()


def test_what_was_chosen_is_not_compared() -> None:
    claims = {
        "claim_id": ["loo_bootstrap_seed", "repeat_blocks", "cells_with_wrong_helpful"],
        "value": [1203.0, 5.0, 10.0],
        "unit": ["seed", "n", "n"],
    }
    tables = {
        "text_claims": pd.DataFrame(claims),
        "table_27": pd.DataFrame({"role": ["recruiter"], "temperature": [0.0]}),
        "table_20": pd.DataFrame({"model": ["OSS"], "bh_selected_n": [1], "coverage_of_n": [5]}),
    }
    outcome = compare_tables(tables, tables, LABELS)
    assert [(c.table, c.column, c.row) for c in outcome.compared] == [
        ("table_20", "bh_selected_n", "(the only row)"),
        ("text_claims", "value", "(the only row)"),
    ]
    assert outcome.one_sided == ()


def test_rows_over_all_models_need_the_same_models() -> None:
    theirs = pd.DataFrame({"model": ["both", "OSS", "Gemma"], "bh_selected_n": [11, 0, 11]})
    ours = pd.DataFrame({"model": ["both", "oss"], "bh_selected_n": [3, 3]})
    outcome = compare_tables({"table_20": theirs}, {"table_20": ours}, LABELS)
    assert [item.row for item in outcome.compared] == ["OSS"]
    outcome = compare_tables({"table_20": ours}, {"table_20": ours}, LABELS)
    assert [item.row for item in outcome.compared] == ["All models", "OSS"]


def test_every_published_claim_is_measured_or_chosen_on_purpose(published: Path) -> None:
    claims = pd.read_csv(published / "text_claims.csv")
    measured = claims[[is_measured(claim) for claim in claims["claim_id"]]]
    assert not set(measured["unit"]) & {"seed", "temperature"}
    assert {"macro_delta_oss", "crossfit_gain_gemma", "evaluator_kappa_min"} <= {
        *measured["claim_id"]
    }


def test_published_numbers_are_found_from_any_folder(
    published: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["compare", "--tables", str(published), "--out", "same"]) == 0
    assert (tmp_path / "same" / "comparison.md").is_file()
    assert _run(tmp_path / "none", published, tmp_path / "out") == 2
    assert f"--published {tmp_path}/none: no such folder; give the" in capsys.readouterr().err


def test_claims_of_other_models_are_not_compared() -> None:
    """A claim's id names no model: 18 thousand tokens of OSS are not those of another one."""
    columns = {"claim_id": ["system_tokens_low", "macro"], "unit": ["thousand_tokens", "pp"]}
    theirs = pd.DataFrame({**columns, "value": [18.0, 1.0], "model": ["OSS", "Gemma"]})
    ours = pd.DataFrame({**columns, "value": [2.0, 1.0], "model": ["mine", "gemma"]})
    outcome = compare_tables({"text_claims": theirs}, {"text_claims": ours}, LABELS)
    assert [item.row for item in outcome.compared] == ["macro"]
    assert [(item.side, item.what) for item in outcome.one_sided] == [
        ("published", "system_tokens_low"),
        ("ours", "system_tokens_low"),
    ]


def test_what_one_side_lacks_is_listed_by_table(published: Path, tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    tables.mkdir()
    for name in ("table_24.csv", "table_06.csv"):
        shutil.copy(published / name, tables / name)
    path = tables / "table_06.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    _run(published, tables, tmp_path / "out")
    text = (tmp_path / "out" / "comparison.md").read_text()
    lines = [line for line in text.splitlines() if line.startswith("| table_06 | only published |")]
    assert len(lines) == 1
    assert lines[0].endswith(" more |")


def test_tolerance_must_be_a_number_from_zero_on(published: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        _run(published, published, tmp_path, "--tolerance", "-1")


def test_published_numbers_are_the_reference_ones(published: Path, shared_dir: Path) -> None:
    reference = sorted((shared_dir / "published").rglob("*.csv"))
    assert reference
    for path in reference:
        copy = published / path.relative_to(shared_dir / "published")
        assert copy.read_bytes() == path.read_bytes(), path.name
