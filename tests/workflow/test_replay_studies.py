"""Replay studies through Snakemake: complete, counted call by call, asked once."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dhd.records import Records, load_records
from support.studies import (
    SCRIPTED,
    finished_more_than_once,
    journal_lines,
    snakemake,
    write_config,
    write_problems,
)

pytestmark = pytest.mark.workflow

FAMILIES, PROBLEMS, BLOCKS = 2, 6, 3
MATCHED, MATCHED_BLOCKS = 3, 2
CASES, REPETITIONS = 4, 2
STUDIES: dict[str, Any] = {
    "repeats": {"problems": PROBLEMS, "blocks": BLOCKS},
    "order": {"problems": MATCHED, "blocks": MATCHED_BLOCKS},
    "integrator_swap": {
        "problems": MATCHED,
        "blocks": MATCHED_BLOCKS,
        "integrators": {"beta": ["alpha"]},
    },
    "masking": {
        "families": ["beta"],
        "repetitions": REPETITIONS,
        "cases": {"wrong_helpful": 1, "indeterminate": CASES},
    },
}
CALLS = {
    "repeats": FAMILIES * PROBLEMS * BLOCKS * 7,
    "order": FAMILIES * MATCHED * MATCHED_BLOCKS * 7,
    "integrator_swap": MATCHED * MATCHED_BLOCKS * 7,
}
MASKING_CALLS = REPETITIONS * 8
#: Large bundles, since each is a job and jobs take longer than scripted answers.
SIZES = {"bundles": {"deliberation_shards": 9, "judging_shards": 9, "replay_shards": 9}}


def settings(**sections: Any) -> dict[str, Any]:
    return {"studies": STUDIES} | SIZES | sections


def results(folder: Path) -> Path:
    return folder / "results" / "scripted"


def asked(folder: Path, depth: int = 1) -> Counter[str]:
    """Return the finished requests by stage, or by the first folders of the journal."""
    journals = results(folder) / "journal"
    return Counter(
        "/".join(path.relative_to(journals).parts[:depth])
        for path in journals.rglob("*.jsonl")
        for _ in path.read_text(encoding="utf-8").splitlines()
    )


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Counter[str]]:
    """Run the scan of two families once; return its folder and what it asked."""
    folder = tmp_path_factory.mktemp("study")
    snakemake(folder, write_config(folder, **SIZES), "records")
    return folder, asked(folder)


@pytest.fixture(scope="module")
def finished(scanned: tuple[Path, Counter[str]]) -> Path:
    """Run all replay studies on the finished scan, to tables."""
    folder, _ = scanned
    snakemake(folder, write_config(folder, **settings()), "tables")
    return folder


@pytest.fixture
def records(finished: Path) -> Records:
    return load_records(results(finished) / "records")


def cases(folder: Path) -> list[dict[str, Any]]:
    path = results(folder) / "samples" / "masking" / "beta.json"
    found: list[dict[str, Any]] = json.loads(path.read_text())["cases"]
    return found


def test_added_studies_ask_exactly_their_own_calls(
    scanned: tuple[Path, Counter[str]], finished: Path
) -> None:
    now = asked(finished)
    assert now["deliberation"] == scanned[1]["deliberation"]
    assert {name: now[name] for name in CALLS} == CALLS
    assert now["masking"] == len(cases(finished)) * MASKING_CALLS
    assert len(cases(finished)) >= CASES
    assert not finished_more_than_once(finished)


def test_every_study_has_its_rows(records: Records) -> None:
    outcomes = records.outcomes
    seven = {"full": 2, "removal": 5}
    for study, blocks in (
        ("repeats", BLOCKS),
        ("order", MATCHED_BLOCKS),
        ("integrator_swap", MATCHED_BLOCKS),
    ):
        rows = outcomes[outcomes["study"] == study]
        assert len(rows) == CALLS[study]
        for _, block in rows.groupby(["model", "problem_uid", "block"], observed=True):
            assert block["condition"].value_counts()[list(seven)].to_dict() == seven
            assert sorted(block["slot"]) == [1, 2, 3, 4, 5, 6, 7]
        assert set(rows["block"]) == set(range(1, blocks + 1))
    swapped = outcomes[outcomes["study"] == "integrator_swap"]
    assert set(zip(swapped["model"], swapped["integrator"], strict=True)) == {("beta", "alpha")}
    assert set(swapped["answered_by"]) == {"a"}


def test_order_and_swap_replay_problems_of_the_repeats(records: Records) -> None:
    def problems(study: str, model: str) -> set[str]:
        rows = records.outcomes
        chosen = rows[(rows["study"] == study) & (rows["model"] == model)]
        return set(chosen["problem_uid"].astype(str))

    for model in ("alpha", "beta"):
        assert problems("order", model) < problems("repeats", model)
    assert problems("integrator_swap", "beta") == problems("order", "beta")


def test_orders_are_random_in_order_alone(records: Records) -> None:
    outcomes = records.outcomes.astype({"condition": str, "problem_uid": str})

    def orders(study: str) -> set[tuple[object, ...]]:
        rows = outcomes[outcomes["study"] == study].sort_values("slot")
        keys = ["model", "problem_uid", "block"]
        return {
            tuple(zip(block["condition"], block["message_index"], strict=True))
            for _, block in rows.groupby(keys, observed=True)
        }

    assert len(orders("repeats")) == len(orders("integrator_swap")) == 1
    assert len(orders("order")) > FAMILIES * MATCHED


def test_identical_inputs_are_asked_anew(records: Records) -> None:
    rows = records.outcomes[records.outcomes["study"] != "scan"]
    assert rows["request_key"].is_unique
    full = rows[rows["condition"].isin(["full", "repeat"])]
    tokens = full.groupby(["model", "problem_uid", "integrator"], observed=True)["prompt_tokens"]
    assert (tokens.nunique() == 1).all()


def test_masking_rows_carry_their_case(finished: Path, records: Records) -> None:
    rows = records.outcomes[records.outcomes["study"] == "masking"]
    expected = {(case["problem_uid"], case["message_index"]) for case in cases(finished)}
    assert set(zip(rows["problem_uid"], rows["message_index"], strict=True)) == expected
    per_case = rows.groupby(["problem_uid", "message_index", "block"], observed=True).size()
    assert set(per_case) == {8}


def test_tables_17_to_26_are_there(finished: Path) -> None:
    for number in range(17, 27):
        table = pd.read_csv(results(finished) / "tables" / f"table_{number}.csv")
        assert len(table), number
    changes = pd.read_csv(results(finished) / "tables" / "table_22.csv")
    assert set(changes["matched_change"]) == {"order", "integrator"}


def test_samples_stay_when_judging_or_bundles_change(finished: Path) -> None:
    samples = results(finished) / "samples"
    before = {path: path.stat().st_mtime_ns for path in samples.rglob("*.json")}
    changed = settings(judging=SCRIPTED["judging"] | {"comparison_limit_s": 6.0})
    snakemake(finished, write_config(finished, **changed), "tables")
    assert {path: path.stat().st_mtime_ns for path in samples.rglob("*.json")} == before


def test_rewritten_bundles_ask_nothing(finished: Path, records: Records) -> None:
    before = asked(finished)
    for study in ("order", "masking"):
        shutil.rmtree(results(finished) / "bundles" / "replays" / study)
    snakemake(finished, write_config(finished, **settings()), "records")
    assert asked(finished) == before
    again = load_records(results(finished) / "records").outcomes
    pd.testing.assert_frame_equal(again, records.outcomes)


def test_analysis_settings_rerun_no_generation(finished: Path) -> None:
    before = {p: p.stat().st_mtime_ns for p in (results(finished) / "bundles").rglob("*.parquet")}
    keys = len(journal_lines(finished))
    changed = settings(analysis=SCRIPTED["analysis"] | {"permutation_draws": 100})
    snakemake(finished, write_config(finished, **changed), "tables")
    assert len(journal_lines(finished)) == keys
    now = {p: p.stat().st_mtime_ns for p in (results(finished) / "bundles").rglob("*.parquet")}
    assert now == before


def test_a_study_has_a_target_with_tables_of_its_own(finished: Path) -> None:
    config = write_config(finished, **settings())
    snakemake(finished, config, "order")
    own = load_records(results(finished) / "studies" / "order" / "records")
    assert set(own.outcomes["study"]) == {"scan", "repeats", "order"}
    tables = results(finished) / "studies" / "order" / "tables"
    assert set(pd.read_csv(tables / "table_22.csv")["matched_change"]) == {"order"}


def test_more_problems_blocks_families_and_benchmarks_ask_only_what_is_new(
    finished: Path, tmp_path: Path
) -> None:
    """The last change of the shared folder: it grows."""
    before, before_by_benchmark = asked(finished), asked(finished, 3)
    before_cases = cases(finished)
    source = tmp_path / "sums.jsonl"
    write_problems(source, 5)
    changed = settings(
        families=SCRIPTED["families"] | {"gamma": {"actor": "scripted-c"}},
        benchmarks=SCRIPTED["benchmarks"] | {"sums": {"loader": "user", "path": str(source)}},
        studies=STUDIES | {"repeats": {"problems": PROBLEMS + 1, "blocks": BLOCKS + 1}},
    )
    snakemake(finished, write_config(finished, **changed), "records")
    assert not finished_more_than_once(finished)
    now, outcomes = asked(finished), load_records(results(finished) / "records").outcomes
    for study in STUDIES:
        assert now[study] == (outcomes["study"] == study).sum(), study
    assert all(case in cases(finished) for case in before_cases)
    assert now["order"] - before["order"] >= MATCHED * MATCHED_BLOCKS * 7
    by_benchmark = asked(finished, 3)
    for family in SCRIPTED["families"]:
        scan = f"deliberation/{family}/marbles"
        assert by_benchmark[scan] == before_by_benchmark[scan]
    assert by_benchmark["deliberation/gamma/marbles"] > 20 * 20
    assert by_benchmark["deliberation/alpha/sums"] > 5 * 20


def test_a_target_of_a_study_that_is_not_configured_says_so(tmp_path: Path) -> None:
    result = snakemake(tmp_path, write_config(tmp_path), "masking", check=False)
    assert result.returncode != 0
    assert "studies.masking: not in the config" in result.stdout + result.stderr
