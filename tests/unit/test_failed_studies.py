"""Studies in which little or nothing went right: all results come out, and say why."""

from pathlib import Path

import pandas as pd
import pytest

from dhd.cli import main
from dhd.layout import StudyPaths
from dhd.records import load_records
from dhd.records.failures import failure_lines, study_failures
from dhd.stages.results import make_figures, make_tables
from support.small_scans import MESSAGE, NO_ROSTER, ROSTER, Says, scan, small_study

LAZY = ""


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


NO_MESSAGES = (
    "alpha: no messages for 2 of 2 problems: no_roster (a role stands twice in the roster) ×2; "
    "see decoding.recruiter.temperature and deliberation.max_roster_attempts"
)
NO_OUTCOMES = "alpha: 48 of 50 outcomes lacking: no_roster ×48"


def test_failed_rosters_are_said_before_there_are_records_and_after(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of each problem 24 of the 25 outcomes need messages."""
    study = small_study()
    folder = scan(study, lambda _: Says(NO_ROSTER, MESSAGE, LAZY))
    assert study_failures(folder.parent) == [NO_MESSAGES, NO_OUTCOMES]
    (folder / "messages.parquet").rename("messages.parquet")
    assert study_failures(folder.parent) == [NO_MESSAGES, NO_OUTCOMES]
    Path("messages.parquet").rename(folder / "messages.parquet")
    make_tables(study, folder, StudyPaths.of("small").tables())
    assert main(["matrix", "--study", "small"]) == 0
    said = capsys.readouterr().out
    assert "Study small: 0 of 10 messages\n" in said
    assert f"Lacking, and why\n{NO_MESSAGES}\n{NO_OUTCOMES}\n" in said
    quality = pd.read_csv(StudyPaths.of("small").tables() / "quality.csv").set_index("stage")
    reasons = "no_roster (a role stands twice in the roster) ×10"
    assert quality.loc["messages", "reasons"] == reasons
    assert quality.loc["single", "reasons"] == "no_roster ×10"
    assert pd.isna(quality.loc["independent", "reasons"])


def test_other_reasons_are_counted_by_status_and_reason() -> None:
    """Five messages of a problem, one of each: cut, two not parsed, hostile text, well."""
    messages = pd.DataFrame(
        {
            "model": "m",
            "problem_uid": "p",
            "status": ["truncated", "invalid_format", "invalid_format", "failed", "ok"],
            "reason": [None, "no JSON", "no JSON", "bad \x1b[31m'key'", None],
        }
    )
    outcomes = pd.DataFrame(
        {
            "model": "m",
            "problem_uid": "p",
            "status": ["failed", "unjudged", "no_answer", "truncated", "ok"],
            "reason": ["timeout", None, None, None, None],
        }
    )
    assert failure_lines(messages, outcomes) == [
        (
            "m: 4 of 5 messages not usable: invalid_format (no JSON) ×2, truncated ×1, "
            "failed (bad \\x1b[31m'key') ×1"
        ),
        "m: 2 of 5 outcomes lacking: failed (timeout) ×1, unjudged ×1",
    ]
    # Records from elsewhere need not tell reasons.
    assert failure_lines(messages.drop(columns="reason"), outcomes.iloc[4:]) == [
        "m: 4 of 5 messages not usable: invalid_format ×2, truncated ×1, failed ×1"
    ]


def test_a_study_that_is_well_has_nothing_to_say() -> None:
    assert study_failures(scan(small_study(), lambda _: Says()).parent) == []
    assert study_failures(Path("nowhere")) == []
