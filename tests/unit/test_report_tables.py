"""Layout and files of tables: what the paper prints, and what must never happen."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dhd.analysis.registry import ComputedTables
from dhd.analysis.settings import AnalysisSettings
from dhd.errors import DhdError, RecordsError
from dhd.report.cells import MISSING, fill, is_missing, number, plain
from dhd.report.files import write_files
from dhd.report.frames import csv_bytes, parquet_bytes, read_csv, read_tables
from dhd.report.grid import build_grid
from dhd.report.html import html_page, html_table
from dhd.report.labels import Labels
from dhd.report.latex import PREAMBLE, latex_table
from dhd.report.layouts import PAPER_LAYOUTS, layout_of
from dhd.report.markdown import markdown_table
from dhd.report.writers import FORMATS, write_tables

SETTINGS = AnalysisSettings()
# The paper prints BH and strict counts joined by slashes.
REST_19 = "40 [24, 53] | 0/0/0/0 | 7/13 |"
HOSTILE = [
    "<script>alert(1)</script>",
    r"\input{secret}",
    "a|b%c_d",
    "$x_1$ & #{}~^`'\"",
    "中文 [x](y)",
]


@pytest.fixture(scope="module")
def published(project_root: Path) -> Mapping[str, pd.DataFrame]:
    return read_tables(project_root / "resources" / "published")


def _markdown(name: str, frame: pd.DataFrame) -> list[str]:
    return markdown_table(build_grid(name, frame, layout_of(name, frame), SETTINGS)).splitlines()


@pytest.mark.parametrize(
    ("value", "spec", "expected"),
    [
        (-0.04, ".1f", "0.0"),
        (-1.79, "+.2f", "−1.79"),
        (1.68, "+.2f", "+1.68"),
        (616.3, ",.1f", "616.3"),
        (4181, "n", "4,181"),
        (96.5, "n", "96.5"),
        (96.03, "n", "96"),
    ],
)
def test_numbers(value: float, spec: str, expected: str) -> None:
    assert number(value, spec) == expected


@pytest.mark.parametrize("value", [None, float("nan"), np.nan, pd.NA, pd.NaT, ""])
def test_every_missing_value_is_seen(value: object) -> None:
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, 0.0, False, "0", np.int64(0)])
def test_zero_is_not_missing(value: object) -> None:
    assert not is_missing(value)


def test_cell_without_its_interval_shows_the_value_alone() -> None:
    row = {"gain_pp": 1.678, "ci_low": np.nan, "ci_high": np.nan}
    parts = ("{gain_pp:+.2f}", "[{ci_low:.2f}, {ci_high:.2f}]")
    assert plain(fill(parts, row, Labels(SETTINGS))) == "+1.68"
    assert fill(parts[1:], row, Labels(SETTINGS)) == MISSING


@pytest.mark.parametrize(
    ("table", "line"),
    [
        # As printed in the paper's tables of these numbers.
        ("table_01", "| LAB-Bench | 41.6 | 39.8 | −1.8 | 56.5 | 61.7 | +5.2 |"),
        (
            "table_05",
            "| Omni-MATH-2 | 4,181 | 3,760 | 3,724 | 36 | 47 | 76.8 / 75.0 | 82.4 / 81.0 |",
        ),
        ("table_05", "| Total | 6,666 | 5,980 | 5,930 | 50 | 64 | – | – |"),
        ("table_06", "| OSS | Macro average | 73.3 | 73.9 | 74.6 | 74.5 | 75.1 | 74.9 |"),
        ("table_09", "| MaScQA | 985 | 93 | 26.9% | [15.7, 38.3] |"),
        ("table_11", "| Macro average | All models | – | 61.0 | 73.1 | 85.4 | 91.3 |"),
        ("table_15", "| Gemma | Consensus − random | −0.05 | [−0.21, 0.12] |"),
        ("table_17", "| OSS | Pooled | 7.3% [6.6, 8.0] | 23 | 37 | 70 | 40 | 4,830 |"),
        ("table_18", "| Pooled | −1.66 [−2.91, −0.45] | 1.34 [0.65, 2.02] | 3.00 [1.72, 4.28] |"),
        ("table_19", "| OSS | 170 [83, 129] | 23 [10, 30] | 37 [9, 26] | 70 [20, 43] | " + REST_19),
        ("table_20", "| All models | 1,034 | 38 | 11 | 0 | 5/5 |"),
        ("table_23", "| Wrong-helpful (10) | 82 | 81 | 26 | 46 | 64 | 44 |"),
        ("table_24", "| OSS | 71.85 → 73.53 | +1.68 [0.88, 2.50] |"),
        ("table_26", "| OSS / B | +1.18 | [−0.82, 0.76] | [−0.74, 0.32] |"),
        ("table_28", "| OSS | 140 | 93.3–96.4 | 79.4–85.2 | 71.6–78.6 | 67.1 |"),
    ],
)
def test_tables_look_as_the_paper_prints_them(
    published: Mapping[str, pd.DataFrame], table: str, line: str
) -> None:
    assert line in _markdown(table, published[table])


def test_a_group_of_columns_is_named_once(published: Mapping[str, pd.DataFrame]) -> None:
    heads = _markdown("table_04", published["table_04"])[2]
    assert heads == (
        "| Model | Replay comparison | Proposed answer wrong: helpful | neutral | harmful "
        "| Proposed answer correct: helpful | neutral | harmful |"
    )


def test_seeds_and_numbers_of_draws_are_printed_whole() -> None:
    values = [20260814.0, 10000.0, 0.0, 12345.67, 0.123456]
    frame = pd.DataFrame({"claim_id": list("abcde"), "value": values})
    lines = _markdown("text_claims", frame)[-5:]
    assert [line.split(" | ")[1].rstrip(" |") for line in lines] == [
        "20260814",
        "10000",
        "0",
        "12346",
        "0.1235",
    ]
    grid = build_grid("text_claims", frame, layout_of("text_claims", frame), SETTINGS)
    assert "20260814" in latex_table(grid)


def test_every_table_of_the_paper_has_a_layout(published: Mapping[str, pd.DataFrame]) -> None:
    assert set(PAPER_LAYOUTS) == {name for name in published if name.startswith("table_")}


def test_raw_keys_and_display_names_print_the_same(published: Mapping[str, pd.DataFrame]) -> None:
    raw = published["table_01"].replace(
        {"OSS": "oss", "Gemma": "gemma", "Omni-MATH-2": "omni_math_2", "LAB-Bench": "lab_bench"}
    )
    assert _markdown("table_01", raw) == _markdown("table_01", published["table_01"])


def test_model_column_stands_in_for_the_caption(published: Mapping[str, pd.DataFrame]) -> None:
    one = published["table_09"]
    assert "(OSS)" in _markdown("table_09", one)[0]
    two = pd.concat([one, one.assign(model="mine")])
    lines = _markdown("table_09", two)
    assert "(OSS)" not in lines[0]
    assert "| mine | MaScQA | 985 | 93 | 26.9% | [15.7, 38.3] |" in lines


def test_csv_is_exact_without_spurious_zeros() -> None:
    frame = pd.DataFrame(
        {"model": ["a", "NA"], "x_n": [3.0, np.nan], "y_pct": [1 / 3, 60.0], "k": ["5", "2-5"]}
    )
    assert csv_bytes(frame) == b"model,x_n,y_pct,k\na,3,0.3333333333333333,5\nNA,,60,2-5\n"


def test_csv_reads_back_unchanged(tmp_path: Path) -> None:
    frame = pd.DataFrame({"model": ["null", "NA"], "k": ["5", "2-5"], "x_pp": [0.1 + 0.2, np.nan]})
    path = tmp_path / "table_01.csv"
    path.write_bytes(csv_bytes(frame))
    pd.testing.assert_frame_equal(read_csv(path), frame, check_dtype=False)


def test_mixed_columns_can_be_written_as_parquet() -> None:
    assert parquet_bytes(pd.DataFrame({"k": [5, "2-5", None]}))[:4] == b"PAR1"


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00"])
def test_a_file_that_is_no_table_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "table_01.csv").write_bytes(content)
    with pytest.raises(RecordsError, match=r"table_01\.csv"):
        read_tables(tmp_path)


def test_folder_without_tables_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordsError, match="no tables"):
        read_tables(tmp_path)
    with pytest.raises(RecordsError, match="no such folder"):
        read_tables(tmp_path / "missing")


def test_failed_write_leaves_the_earlier_files(tmp_path: Path) -> None:
    (tmp_path / "b.csv").mkdir()  # a folder cannot be replaced by a file
    (tmp_path / "a.csv").write_bytes(b"old")
    with pytest.raises(DhdError, match=r"b\.csv"):
        write_files(tmp_path, {"b.csv": b"new", "a.csv": b"new"})
    assert (tmp_path / "a.csv").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv"]


def test_tables_are_the_same_bytes_again_and_absent_ones_go(
    tmp_path: Path, published: Mapping[str, pd.DataFrame]
) -> None:
    write_tables(ComputedTables(published, {}), SETTINGS, tmp_path / "a")
    kept = {name: frame for name, frame in published.items() if name != "table_23"}
    write_tables(ComputedTables(published, {}), SETTINGS, tmp_path / "b")
    write_tables(ComputedTables(kept, {"table_23": "no masking"}), SETTINGS, tmp_path / "b")
    first = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    second = {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()}
    assert set(first) - set(second) == {f"table_23.{suffix}" for suffix in FORMATS}
    assert all(first[name] == data for name, data in second.items())


def _hostile(frame: pd.DataFrame) -> pd.DataFrame:
    names = dict(zip(frame["benchmark"].unique(), HOSTILE, strict=False))
    return frame.replace({"benchmark": names}).assign(model=HOSTILE[0])


def test_hostile_names_stay_text(published: Mapping[str, pd.DataFrame]) -> None:
    frame = _hostile(published["table_03"])
    grid = build_grid("table_03", frame, layout_of("table_03", frame), SETTINGS)
    printed = markdown_table(grid)
    assert "<script>" not in printed + html_page(HOSTILE[0], [html_table(grid)])
    assert "\\input{" not in latex_table(grid)
    rows = printed.splitlines()[4:]
    assert all(row.replace("\\|", "").count("|") == 8 for row in rows)
    assert "\\input{secret}" in rows[1].replace("\\\\", "\\")


def test_line_breaks_in_names_do_not_break_rows() -> None:
    frame = pd.DataFrame({"benchmark": ["two\nlines\t\x00"], "problems_n": [3]})
    assert _markdown("table_02", frame)[-1] == "| two lines | 3 |"


@pytest.mark.slow
def test_latex_compiles(tmp_path: Path, published: Mapping[str, pd.DataFrame]) -> None:
    pdflatex = shutil.which("pdflatex")
    if pdflatex is None:
        pytest.skip("pdflatex is not installed")
    hostile = {
        "table_03": _hostile(published["table_03"]),
        "table_17": _hostile(published["table_17"]),
    }
    inputs = []
    for folder, tables in (("paper", published), ("hostile", hostile)):
        write_tables(ComputedTables(tables, {}), SETTINGS, tmp_path / folder)
        inputs += [rf"\input{{{folder}/{name}.tex}}\clearpage" for name in sorted(tables)]
    document = "\n".join([PREAMBLE, r"\begin{document}", *inputs, r"\end{document}"])
    (tmp_path / "all.tex").write_text(document, encoding="utf-8")
    done = subprocess.run(
        [pdflatex, "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "all.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
