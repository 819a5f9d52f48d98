"""The demo's scan on the real model through Snakemake, and again after a SIGKILL."""

import json
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

MODEL = PROJECT_ROOT / "models" / "SmolLM2-135M-Instruct"
pytestmark = [
    pytest.mark.vllm,
    pytest.mark.workflow,
    pytest.mark.skipif(not MODEL.is_dir(), reason=f"{MODEL} is missing: run `make model`"),
]
JOB = PROJECT_ROOT / "tests" / "support" / "crash_job.py"


def two_problems(folder: Path, studies: dict[str, Any] | None = None) -> Path:
    """Write the demo's config for its first two problems, with these studies; return its path."""
    folder.mkdir(exist_ok=True)
    config: dict[str, Any] = yaml.safe_load((PROJECT_ROOT / "config/config.yaml").read_text())
    models = yaml.safe_load((PROJECT_ROOT / "config/models.yaml").read_text())
    models["models"]["smollm2-135m"]["path"] = str(MODEL)
    (folder / "models.yaml").write_text(yaml.safe_dump(models))
    config["models_file"] = str(folder / "models.yaml")
    config["benchmarks"]["demo"]["limit"] = 2
    further = config.pop("studies")
    if studies is not None:
        config["studies"] = {"integrator": further["integrator"], **studies}
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


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the scan undisturbed; return its config."""
    config = two_problems(tmp_path_factory.mktemp("calm"))
    snakemake(config.parent, config, "records")
    return config


def test_a_killed_run_ends_in_the_records_of_an_undisturbed_one(calm: Path, tmp_path: Path) -> None:
    killed = two_problems(tmp_path / "killed")
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


def test_further_studies_ask_their_own_calls_alone(calm: Path) -> None:
    before = {line["key"] for line in journal_lines(calm.parent)}
    demo = yaml.safe_load((PROJECT_ROOT / "config/config.yaml").read_text())["studies"]
    studies = {
        "repeats": {"problems": 1, "blocks": 2},
        "protocols": demo["protocols"] | {"problems": 1},
    }
    grown = two_problems(calm.parent, studies)
    snakemake(grown.parent, grown, "records")
    records = load_records(calm.parent / "results" / "demo" / "records")
    counts = records.outcomes["study"].value_counts()
    assert counts["scan"] == 2 * 25
    assert counts["repeats"] == 2 * 7
    assert set(records.protocol_runs["protocol"]) == {"direct", "iterative", "per", "broadcast"}
    scan = calm.parent / "results" / "demo" / "journal" / "deliberation"
    lines = [line for path in scan.rglob("*.jsonl") for line in path.read_text().splitlines()]
    assert {json.loads(line)["key"] for line in lines} == before
    assert not finished_more_than_once(calm.parent)
