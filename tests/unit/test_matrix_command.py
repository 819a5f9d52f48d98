"""``dhd matrix``: rows that explain their sums, and the right command where there are none."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from dhd.analysis.context import AnalysisContext
from dhd.analysis.effect_tables import table_04
from dhd.analysis.left_out import left_out
from dhd.analysis.registry import ComputedTables
from dhd.analysis.settings import AnalysisSettings
from dhd.cli import main
from dhd.commands.matrix import left_out_lines, matrix_lines
from dhd.figures.render import write_figures
from dhd.report.cells import plain
from dhd.report.labels import Labels
from dhd.report.left_out import left_out_note
from dhd.report.writers import write_tables
from dhd.status.plan import StudyPlan, write_plan
from support.scan_records import Scan, make_records

SETTINGS = AnalysisSettings(model_names={"m": "Model <M>"})


@pytest.fixture
def tables() -> dict[str, pd.DataFrame]:
    """Return the tables of 20 problems of which one lacks the judgement of a removal."""
    lacking = Scan()
    lacking.removal[2, 1] = -1
    records = make_records({"m": [Scan() for _ in range(19)] + [lacking]})
    context = AnalysisContext(records, SETTINGS)
    return {"table_04": table_04(context), "left_out": left_out(context)}


def test_rows_and_what_is_left_out_sum_to_all(tables: dict[str, pd.DataFrame]) -> None:
    single, loo = matrix_lines(tables["table_04"])[1:]
    assert sum(map(int, single.split()[-6:])) == 95
    assert sum(map(int, loo.split()[-6:])) == 266
    head, problem, single, loo = left_out_lines(tables["left_out"])[-4:]
    assert head.split() == [
        "model",
        "counted",
        "of",
        "missing",
        "failed",
        "unjudged",
        "no",
        "answer",
    ]
    assert problem.split() == ["m", "problems", "19", "20", "0", "1", "0", "0"]
    assert single.split()[-6:] == ["95", "100", "0", "5", "0", "0"]
    assert loo.split()[-6:] == ["266", "280", "0", "14", "0", "0"]


def test_nothing_left_out_is_said() -> None:
    context = AnalysisContext(make_records({"m": [Scan()]}), SETTINGS)
    assert left_out_lines(left_out(context)) == ["Counted: all problems and messages"]


def test_printed_tables_say_what_is_left_out(
    tables: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    write_tables(ComputedTables(tables, {}), SETTINGS, tmp_path)
    text = (tmp_path / "table_04.md").read_text()
    assert "Counted are: Model &lt;M&gt;: 19 of 20 problems (left out: 1 failed), 95 of" in text
    assert "266 of 280 leave-one-out effects (left out: 14 failed). A problem is left out" in text
    assert "Counted are" not in (tmp_path / "left_out.md").read_text()
    # The numbers stay as they are: what is added is printed alone.
    assert list(pd.read_csv(tmp_path / "table_04.csv")) == list(tables["table_04"])


def test_figure_6_says_how_many_problems_it_shows(
    tables: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    shares = dict.fromkeys(("k0_accuracy_pct", "k5_accuracy_pct", "candidate_available_pct"), 50.0)
    figure = pd.DataFrame([{"model": "m", "benchmark": "alpha", **shares}])
    write_figures({**tables, "figure_06": figure}, SETTINGS, tmp_path)
    caption = (tmp_path / "figure_06.txt").read_text()
    assert "Counted are: Model <M>: 19 of 20 problems (left out: 1 failed)." in caption
    write_figures({"figure_06": figure}, SETTINGS, tmp_path)
    assert "Counted are" not in (tmp_path / "figure_06.txt").read_text()


def test_only_tables_of_the_headline_sample_have_the_note(
    tables: dict[str, pd.DataFrame],
) -> None:
    labels = Labels(SETTINGS)
    assert "single-message" not in plain(left_out_note("table_10", tables, labels))
    assert left_out_note("table_01", tables, labels) == ()


@pytest.fixture
def fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], str]:
    monkeypatch.chdir(tmp_path)

    def said(study: str) -> str:
        assert main(["matrix", "--study", study]) == 2
        return capsys.readouterr().err

    return said


def test_an_unfinished_study_goes_on_with_its_own_config(fails: Callable[[str], str]) -> None:
    plan = StudyPlan("trial", 180.0, configs=("config/trial.yaml",), profile="polaris")
    write_plan(plan, Path("results", "trial"))
    said = fails("trial")
    assert "study 'trial' is not finished" in said
    assert "snakemake --profile polaris --configfile config/trial.yaml`" in said
    assert "`dhd status --study trial`" in said


def test_a_study_that_never_ran_is_found_by_its_config(fails: Callable[[str], str]) -> None:
    Path("results", "demo", "tables").mkdir(parents=True)
    Path("config").mkdir()
    Path("config", "real.yaml").write_text("study: real\n")
    said = fails("real")
    assert "no such study in results/; tables are there of demo" in said
    assert "snakemake --profile profiles/local --configfile config/real.yaml` to make it" in said
    assert "run `snakemake --configfile FILE` with its config to make it" in fails("none")
