"""Jobs that are tried again as long as they finish something."""

from pathlib import Path

import pytest

from dhd.errors import EngineError, IncompleteError
from dhd.layout import StudyPaths
from dhd.stages.tries import in_vain, tries_of, tries_with_progress


class Bundle:
    """A bundle whose jobs finish some requests, then fail or end well."""

    def __init__(self, folder: Path) -> None:
        self.note, self.journal = folder / "tries.json", folder / "a.jsonl"
        self.begun = 0

    def job(self, *, finishes: int, fails: bool = True, run: str = "first") -> None:
        with tries_with_progress(self.note, [self.journal], run=run, most=3):
            self.begun += 1
            if finishes:
                with self.journal.open("a") as journal:
                    journal.write("{}\n" * finishes)
            if fails:
                raise EngineError("no GPU here")


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    return Bundle(tmp_path)


def test_jobs_with_progress_are_tried_without_end(bundle: Bundle) -> None:
    for _ in range(20):
        with pytest.raises(EngineError):
            bundle.job(finishes=1)
    bundle.job(finishes=1, fails=False)
    assert bundle.begun == 21
    assert not bundle.note.exists()


def test_jobs_in_vain_end_a_bundle_with_the_last_reason(bundle: Bundle) -> None:
    for finishes in (0, 0, 5, 0, 0, 0):
        with pytest.raises(EngineError):
            bundle.job(finishes=finishes)
    for _ in range(3):
        with pytest.raises(IncompleteError, match=r"3 jobs in a row .* the last with: no GPU here"):
            bundle.job(finishes=0)
    assert bundle.begun == 6


def test_another_run_of_snakemake_starts_counting_afresh(bundle: Bundle) -> None:
    for run in ("first", "second"):
        for _ in range(3):
            with pytest.raises(EngineError):
                bundle.job(finishes=0, run=run)
    assert bundle.begun == 6


def test_what_others_finished_counts_as_progress(bundle: Bundle) -> None:
    for _ in range(3):
        with pytest.raises(EngineError):
            bundle.job(finishes=0)
    bundle.journal.write_text("{}\n")
    bundle.job(finishes=0, fails=False)


def test_a_torn_note_counts_nothing(bundle: Bundle) -> None:
    bundle.note.write_text('{"run": "first"')
    bundle.job(finishes=0, fails=False)
    assert not bundle.note.exists()


def test_who_submits_knows_that_a_bundle_gets_no_further_job(bundle: Bundle) -> None:
    for _ in range(3):
        assert in_vain(bundle.note, run="first", most=3) is None
        with pytest.raises(EngineError):
            bundle.job(finishes=0)
    why = in_vain(bundle.note, run="first", most=3)
    assert why is not None
    assert "3 jobs in a row finished no request, the last with: no GPU here" in why
    assert in_vain(bundle.note, run="second", most=3) is None


def test_tries_are_counted_where_the_jobs_of_a_bundle_meet() -> None:
    output = StudyPaths.of("s").bundle("deliberation", "alpha", "sums", "0001.messages.parquet")
    noted = StudyPaths.of("s").runs("deliberation/alpha/sums", "0001.tries.json")
    assert tries_of(output) == noted
