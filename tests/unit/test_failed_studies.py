"""Studies in which little or nothing went right: all results come out, and say why."""

from pathlib import Path

import pytest
from tests.support.small_scans import MESSAGE, NO_ROSTER, ROSTER, Says, scan, small_study

from dhd.layout import StudyPaths
from dhd.records import load_records
from dhd.stages.results import make_figures, make_tables

LAZY = '{"work": "none"}'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("says", "alone"),
    [
        pytest.param(Says(NO_ROSTER, MESSAGE, LAZY), True, id="no answer at all"),
        pytest.param(Says(ROSTER, MESSAGE, LAZY), True, id="messages alone"),
        pytest.param(Says(None, None, None), True, id="every request failed"),
        pytest.param(Says(NO_ROSTER, MESSAGE, LAZY), False, id="beside a benchmark that is well"),
    ],
)
def test_records_tables_and_figures_come_out(says: Says, alone: bool) -> None:
    study = small_study(benchmarks=1 if alone else 2)
    folder = scan(study, lambda name: says if name == "sums0" else Says())
    records = load_records(folder)
    assert len(records.messages) == 5 * len(records.problems)
    assert len(records.outcomes) == 25 * len(records.problems)
    paths = StudyPaths.of("small")
    make_tables(study, folder, paths.tables())
    make_figures(study, paths.tables(), Path("figures"))
    assert (paths.tables() / "table_04.csv").is_file()
    assert (paths.tables() / "quality.csv").is_file()
