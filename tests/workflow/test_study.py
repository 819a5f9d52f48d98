"""Whole studies through Snakemake: what is made, what is asked, what a change asks again."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from dhd.records import load_records
from support.studies import (
    PROJECT_ROOT,
    SCRIPTED,
    finished_more_than_once,
    journal_lines,
    snakemake,
    write_config,
    write_problems,
)

pytestmark = pytest.mark.workflow

FIGURES = ("figure_04", "figure_06", "figure_07", "figure_08")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the scripted study of two families once, to tables and figures."""
    folder = tmp_path_factory.mktemp("study")
    snakemake(folder, write_config(folder))
    return folder


def results(folder: Path) -> Path:
    return folder / "results" / "scripted"


def test_records_hold_the_complete_scan(finished: Path) -> None:
    records = load_records(results(finished) / "records")
    assert len(records.problems) == 20
    assert len(records.messages) == 2 * 20 * 5
    assert len(records.outcomes) == 2 * 20 * 25
    scan = records.outcomes.groupby(["condition", "k"], observed=True).size() // 40
    assert scan.to_dict() == {
        ("independent", 0): 1,
        ("single", 1): 5,
        **{("full", k): 1 for k in range(1, 6)},
        **{("removal", k): k for k in range(2, 6)},
    }
    assert set(records.outcomes["correct"].dropna()) == {0, 1}
    assert records.outcomes["judged_by"].isin(["rules", "judge"]).any()
    assert set(records.outcomes["answered_by"].dropna()) == {"a", "b"}


def test_cells_that_share_an_input_share_its_answer(finished: Path) -> None:
    outcomes = load_records(results(finished) / "records").outcomes.astype({"problem_uid": str})
    keyed = outcomes.set_index(["model", "problem_uid", "condition", "k", "message_index"])
    keys = keyed["request_key"]
    for model, uid in set(zip(outcomes["model"], outcomes["problem_uid"], strict=True)):
        at = keys.loc[model, uid]
        assert at["single", 1, 1] == at["full", 1, 0] == at["removal", 2, 2]
        assert at["removal", 5, 5] == at["full", 4, 0]
        assert at.nunique() <= 19


def test_tables_and_figures_are_there_in_all_forms(finished: Path) -> None:
    for name in ("table_04", "table_10", "figure_04"):
        for suffix in ("csv", "parquet", "tex", "md"):
            assert (results(finished) / "tables" / f"{name}.{suffix}").stat().st_size > 0
    for name in FIGURES:
        for suffix in ("pdf", "svg", "png"):
            assert (results(finished) / "figures" / f"{name}.{suffix}").stat().st_size > 0


def test_settings_and_versions_lie_beside_the_records(finished: Path) -> None:
    settings = yaml.safe_load((results(finished) / "records" / "settings.yaml").read_text())
    assert settings["seed"] == 7
    assert set(settings["models"]) == {"scripted-a", "scripted-b", "scripted-judge"}
    assert (results(finished) / "records" / "versions.json").read_text().count("snakemake") == 1


def test_no_request_was_finished_twice(finished: Path) -> None:
    assert not finished_more_than_once(finished)
    assert len(journal_lines(finished)) > 1000


def changed_run(finished: Path, **sections: Any) -> list[str]:
    """Run again with some sections changed; return the keys asked by this run."""
    before = {line["key"] for line in journal_lines(finished)}
    snakemake(finished, write_config(finished, **sections))
    assert not finished_more_than_once(finished)
    return [line["key"] for line in journal_lines(finished) if line["key"] not in before]


def test_a_second_run_has_nothing_to_do(finished: Path) -> None:
    again = snakemake(finished, write_config(finished))
    assert "Nothing to be done" in again.stdout + again.stderr


def test_analysis_settings_rerun_the_analysis_alone(finished: Path) -> None:
    bundles = results(finished) / "bundles"
    before = {path: path.stat().st_mtime_ns for path in bundles.rglob("*.parquet")}
    assert not changed_run(finished, analysis={"bootstrap_resamples": 300})
    assert {path: path.stat().st_mtime_ns for path in bundles.rglob("*.parquet")} == before


def test_other_shards_and_bundles_ask_nothing(finished: Path) -> None:
    old = load_records(results(finished) / "records").outcomes
    asked = changed_run(
        finished,
        shards={"problems": 7},
        bundles={"deliberation_shards": 1, "judging_shards": 1},
        analysis={"bootstrap_resamples": 300},
    )
    assert not asked
    pd.testing.assert_frame_equal(load_records(results(finished) / "records").outcomes, old)


def test_another_seed_asks_everything_again(finished: Path, tmp_path: Path) -> None:
    snakemake(tmp_path, write_config(tmp_path, seed=8), "records")
    old = {line["key"] for line in journal_lines(finished)}
    assert not old & {line["key"] for line in journal_lines(tmp_path)}


def test_more_problems_and_another_benchmark_ask_only_what_is_new(tmp_path: Path) -> None:
    source = tmp_path / "sums.jsonl"
    write_problems(source, 9)
    sums = {"loader": "user", "path": str(source), "limit": 6}
    one = {"families": {"alpha": {"actor": "scripted-a"}}, "judging": {"method": "rules"}}
    snakemake(tmp_path, write_config(tmp_path, benchmarks={"sums": sums}, **one), "records")
    first = {line["key"] for line in journal_lines(tmp_path)}
    more = SCRIPTED["benchmarks"] | {"sums": sums | {"limit": 9}}
    asked = changed_run(tmp_path, benchmarks=more, **one)
    per_problem = len(first) / 6
    assert len(asked) == pytest.approx(per_problem * (3 + 20), rel=0.05)
    assert first <= {line["key"] for line in journal_lines(tmp_path)}


def test_problems_that_move_ask_nothing_anew(tmp_path: Path) -> None:
    source = tmp_path / "sums.jsonl"
    write_problems(source, 7)
    first, *others = source.read_text().splitlines(keepends=True)
    source.write_text("".join(others))
    settings = {
        "families": {"alpha": {"actor": "scripted-a"}},
        "judging": {"method": "rules"},
        "benchmarks": {"sums": {"loader": "user", "path": str(source)}},
        "shards": {"problems": 2},
    }
    snakemake(tmp_path, write_config(tmp_path, **settings), "records")
    old = len(journal_lines(tmp_path))
    source.write_text("".join([first, *others]))
    asked = changed_run(tmp_path, **settings)
    assert len(asked) == pytest.approx(old / 6, rel=0.1)
    assert len(journal_lines(tmp_path)) == old + len(asked)


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        ({"sede": 1}, "sede: unknown key; did you mean 'seed'?"),
        ({"judging": {"method": "llm"}}, "method 'llm' needs 'evaluator'"),
        ({"benchmarks": {"x": {"loader": "user", "path": "nowhere.jsonl"}}}, "nowhere.jsonl"),
    ],
)
def test_faulty_settings_stop_before_the_first_job(
    tmp_path: Path, sections: dict[str, Any], expected: str
) -> None:
    result = snakemake(tmp_path, write_config(tmp_path, **sections), check=False)
    assert result.returncode != 0
    output = result.stdout + result.stderr
    assert expected in output
    assert "common.smk" not in output
    assert "Traceback" not in output
    assert not (tmp_path / "results").exists()


def test_a_dry_run_warns_of_a_model_that_is_not_there(tmp_path: Path) -> None:
    write_problems(tmp_path / "problems.jsonl", 2)
    models = {"m": {"engine": "vllm", "path": "models/nowhere-at-all/x", "max_model_len": 2048}}
    (tmp_path / "models.yaml").write_text(yaml.safe_dump({"models": models}))
    config = write_config(
        tmp_path,
        models_file=str(tmp_path / "models.yaml"),
        families={"alpha": {"actor": "m"}},
        benchmarks={"own": {"loader": "user", "path": str(tmp_path / "problems.jsonl")}},
        judging={"method": "rules"},
    )
    result = snakemake(tmp_path, config, options=("-n",))
    fault = "a run would be refused: models.m.path = 'models/nowhere-at-all/x': no such folder"
    assert fault in result.stdout + result.stderr


def test_a_damaged_bundle_is_named(finished: Path) -> None:
    path = next((results(finished) / "bundles" / "judging").rglob("*.parquet"))
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    result = snakemake(
        finished,
        write_config(
            finished,
            shards={"problems": 7},
            bundles={"deliberation_shards": 1, "judging_shards": 1},
        ),
        "records",
        options=("--forcerun", "collect_records", "--rerun-triggers", "input"),
        check=False,
    )
    path.write_bytes(content)
    assert result.returncode != 0
    assert f"{path.name}: not a complete Parquet file" in result.stdout + result.stderr


def test_the_snakefile_has_no_lint(tmp_path: Path) -> None:
    result = snakemake(
        tmp_path, PROJECT_ROOT / "config" / "config.yaml", options=("--lint",), check=False
    )
    assert "Congratulations" in result.stdout + result.stderr
