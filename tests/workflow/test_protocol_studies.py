"""Protocols and evaluator audits through Snakemake, into records, tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from dhd.records import load_records
from support.studies import (
    PROJECT_ROOT,
    finished_more_than_once,
    journal_lines,
    snakemake,
    write_config,
)

pytestmark = pytest.mark.workflow

PROBLEMS, SUBMISSIONS, TRIPLETS = 2, 60, 12
EVALUATORS = ["scripted-judge", "scripted-c", "scripted-d"]
STUDIES: dict[str, Any] = {
    "protocols": {"problems": PROBLEMS},
    "evaluators": {"models": EVALUATORS, "submissions": SUBMISSIONS, "triplets": TRIPLETS},
}
SIZES = {"bundles": {"deliberation_shards": 9, "judging_shards": 9, "protocol_shards": 9}}


def settings(folder: Path, **studies: Any) -> Path:
    """Write a config whose models are the scripted study's and two more evaluators."""
    given = PROJECT_ROOT / "tests" / "workflow" / "data" / "models.yaml"
    models = yaml.safe_load(given.read_text())["models"]
    models |= {name: {"engine": "scripted", "name": name} for name in EVALUATORS[1:]}
    (folder / "models.yaml").write_text(yaml.safe_dump({"models": models}))
    return write_config(
        folder, models_file=str(folder / "models.yaml"), studies=STUDIES | studies, **SIZES
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the scripted study with both studies once, to tables and figures."""
    folder = tmp_path_factory.mktemp("study")
    snakemake(folder, settings(folder))
    return folder


def results(folder: Path) -> Path:
    return folder / "results" / "scripted"


def test_records_hold_every_run_of_every_protocol(finished: Path) -> None:
    runs = load_records(results(finished) / "records").protocol_runs
    assert runs is not None
    cells = runs.groupby(["model", "protocol"], observed=True).size()
    assert len(cells) == 2 * 4
    assert set(cells) == {PROBLEMS}
    assert runs["problem_uid"].nunique() == PROBLEMS
    assert runs["correct"].notna().all()


def test_every_evaluator_judged_the_same_answers(finished: Path) -> None:
    evaluations = load_records(results(finished) / "records").evaluations
    assert evaluations is not None
    by_evaluator = evaluations.groupby("evaluator", observed=True)["submission_id"]
    assert {name: set(ids) for name, ids in by_evaluator}.keys() == set(EVALUATORS)
    assert len({frozenset(ids) for _, ids in by_evaluator}) == 1
    assert by_evaluator.size().unique().tolist() == [SUBMISSIONS + 2 * TRIPLETS * 3]
    assert set(evaluations["answered_by"]) == {"judge", "scripted-c", "scripted-d"}
    assert set(evaluations["judged_by"]) == {"judge", "scripted-c", "scripted-d"}
    triplets = evaluations.dropna(subset="triplet_id").groupby(["triplet_id", "evaluator"])
    assert {frozenset(kinds) for _, kinds in triplets["kind"]} == {
        frozenset({"proposed", "full", "removal"})
    }


def test_tables_and_figure_of_both_studies_are_there(finished: Path) -> None:
    tables = results(finished) / "tables"
    costs = pd.read_csv(tables / "table_12.csv")
    assert set(costs["protocol"]) == {"direct", "iterative", "per", "broadcast"}
    assert (costs["problems_n"] == PROBLEMS).all()
    assert len(pd.read_csv(tables / "figure_09.csv")) == 3
    assert pd.read_csv(tables / "table_28.csv")["triplets_n"].tolist() == [TRIPLETS] * 2
    assert (tables / "table_11.csv").is_file()
    assert (results(finished) / "figures" / "figure_09.pdf").is_file()


def test_nothing_is_asked_twice_and_a_second_run_does_nothing(finished: Path) -> None:
    assert not finished_more_than_once(finished)
    again = snakemake(finished, settings(finished))
    assert "Nothing to be done" in again.stdout + again.stderr


def test_each_study_is_a_target_of_its_own_and_turns_change_nothing(
    finished: Path, tmp_path: Path
) -> None:
    studies = {"protocols": {"problems": PROBLEMS, "alternate": True, "names": ["direct"]}}
    snakemake(tmp_path, settings(tmp_path, **studies), "protocols")
    own = load_records(results(tmp_path) / "studies" / "protocols" / "records")
    assert own.messages.empty
    whole = load_records(results(finished) / "records").protocol_runs
    assert whole is not None
    assert own.protocol_runs is not None
    keys = ["protocol", "model", "problem_uid"]
    ours = own.protocol_runs.astype(dict.fromkeys(keys, str)).set_index(keys).sort_index()
    theirs = whole.astype(dict.fromkeys(keys, str)).set_index(keys).sort_index()
    pd.testing.assert_frame_equal(ours, theirs.loc[ours.index], check_dtype=False)
    assert not list((tmp_path / "results").rglob("journal/deliberation/**/*.jsonl"))


def test_another_evaluator_asks_only_its_own_calls(finished: Path, tmp_path: Path) -> None:
    before = journal_lines(finished)
    models = [*EVALUATORS[:2], "scripted-a"]
    studies = {"evaluators": STUDIES["evaluators"] | {"models": models}}
    snakemake(finished, settings(finished, **studies), "evaluators")
    asked = journal_lines(finished)[len(before) :]
    known = {line["key"] for line in before}
    new = [line for line in journal_lines(finished) if line["key"] not in known]
    assert len(new) == len(asked)
    assert {line["answered_by"] for line in new} == {"a"}
