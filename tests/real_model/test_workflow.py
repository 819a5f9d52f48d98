"""The demo's scan on the real model through Snakemake, and again after a SIGKILL."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from dhd.config.load import load_study_file
from dhd.layout import StudyPaths
from dhd.records import load_records
from dhd.stages.prepare import prepare_problems
from support.studies import PROJECT_ROOT, finished_more_than_once, journal_lines, snakemake

pytestmark = [pytest.mark.vllm, pytest.mark.workflow]

MODEL = PROJECT_ROOT / "models" / "SmolLM2-135M-Instruct"
JOB = PROJECT_ROOT / "tests" / "support" / "crash_job.py"


def two_problems(folder: Path) -> Path:
    """Write the config of the demo's scan of its first two problems; return its path."""
    folder.mkdir()
    config: dict[str, Any] = yaml.safe_load((PROJECT_ROOT / "config/config.yaml").read_text())
    models = yaml.safe_load((PROJECT_ROOT / "config/models.yaml").read_text())
    models["models"]["smollm2-135m"]["path"] = str(MODEL)
    (folder / "models.yaml").write_text(yaml.safe_dump(models))
    config["models_file"] = str(folder / "models.yaml")
    config["benchmarks"]["demo"]["limit"] = 2
    del config["studies"]
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


def killed_in_mid_run(config: Path) -> int:
    """Start the deliberation job, kill it after some answers; return how many it lost."""
    folder = config.parent
    study = load_study_file(config, root=PROJECT_ROOT)
    entry = study.settings.benchmarks["demo"]
    problems = folder / StudyPaths.of("demo").problems("demo")
    prepare_problems(study, "demo", study.resolve(str(entry.path)), problems)
    command = [sys.executable, str(JOB), str(config), "smollm2", "demo", "0000", "asked.log"]
    with (folder / "err.log").open("wb") as log:
        job = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    deadline = time.monotonic() + 240
    while len(journal_lines(folder)) < 16 and time.monotonic() < deadline:
        assert job.poll() is None, (folder / "err.log").read_text()
        time.sleep(0.05)
    job.kill()
    job.wait()
    asked = (folder / "asked.log").read_text().split()
    return len(asked) - len(journal_lines(folder))


@pytest.mark.skipif(not MODEL.is_dir(), reason=f"{MODEL} is missing: run `make model`")
def test_a_killed_run_ends_in_the_records_of_an_undisturbed_one(tmp_path: Path) -> None:
    calm, killed = two_problems(tmp_path / "calm"), two_problems(tmp_path / "killed")
    snakemake(calm.parent, calm, "records")
    lost = killed_in_mid_run(killed)
    snakemake(killed.parent, killed, "records")
    expected = load_records(calm.parent / "results" / "demo" / "records")
    found = load_records(killed.parent / "results" / "demo" / "records")
    batch_dependent = ["cached_tokens"]
    for name in ("messages", "outcomes"):
        pd.testing.assert_frame_equal(
            getattr(found, name).drop(columns=batch_dependent),
            getattr(expected, name).drop(columns=batch_dependent),
        )
    assert len(expected.outcomes) == 2 * 25
    assert 0 <= lost <= 128
    assert not finished_more_than_once(killed.parent)
    asked = {line["key"] for line in journal_lines(calm.parent)}
    assert {line["key"] for line in journal_lines(killed.parent)} == asked
