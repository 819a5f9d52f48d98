"""Models in the workflow: a missing one ends a run before any job, others are no concern of it."""

from pathlib import Path

import pytest
import yaml

from support.studies import snakemake, write_config

pytestmark = pytest.mark.workflow


def write_models(folder: Path, path: str) -> str:
    """Write a models file whose model ``a`` runs in the job; return its place."""
    models = {
        "scripted-a": {"engine": "vllm", "path": path, "max_model_len": 64},
        "scripted-b": {"engine": "scripted", "name": "b"},
        "scripted-judge": {"engine": "scripted", "name": "judge"},
    }
    (folder / "models.yaml").write_text(yaml.safe_dump({"models": models}))
    return str(folder / "models.yaml")


def test_a_missing_model_is_said_before_the_first_job(tmp_path: Path) -> None:
    config = write_config(tmp_path, models_file=write_models(tmp_path, "/no/such/folder"))
    result = snakemake(tmp_path, config, check=False)
    assert result.returncode != 0
    said = result.stdout + result.stderr
    assert "models.scripted-a.path = '/no/such/folder': no such folder" in said
    assert not list(tmp_path.glob("results/scripted/*/**/*.*"))


def test_the_target_stage_brings_models_and_problems_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    config = write_config(tmp_path, models_file=write_models(tmp_path, str(tmp_path / "model")))
    snakemake(tmp_path, config, "stage")
    found = {path.name for path in tmp_path.glob("results/scripted/*/*") if path.is_file()}
    assert found == {"scripted-a.json", "marbles.parquet", "plan.json"}
