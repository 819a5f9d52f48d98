"""A scripted study on a real Slurm that keeps accounts: who pays, and what is said of an error."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from dhd.records import load_records
from support.slurm_study import make_study, running_slurm
from support.studies import finished_more_than_once

pytestmark = [pytest.mark.workflow, pytest.mark.cluster]

COMMAND = ("snakemake", "--profile", "slurm", "--quiet", "rules", "--", "records")
MODEL = {"engine": "scripted", "engines_per_node": 1}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Start a Slurm with accounting; skip where that is not possible."""
    folder = tmp_path_factory.mktemp("slurm")
    with running_slurm(folder, accounting=True):
        yield folder


def accounted() -> list[list[str]]:
    """Return comment, account and state of all jobs, as sacct keeps them."""
    command = ["sacct", "-X", "-n", "-P", "--format=comment,account,state"]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    return sorted(line.split("|") for line in answer.stdout.splitlines())


def test_the_account_pays_for_every_job(cluster: Path, tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", models={"m": MODEL}, site={"account": "project"})
    with study.started(*COMMAND) as process:
        study.finish(process)
    assert not finished_more_than_once(study.folder)
    assert len(load_records(study.folder / "results" / "scripted" / "records").problems) == 8
    assert [job[1:] for job in accounted()] == [["project", "COMPLETED"]] * 3


def test_an_account_that_slurm_does_not_know_is_named_before_a_job_is_submitted(
    cluster: Path, tmp_path: Path
) -> None:
    study = make_study(tmp_path / "study", models={"m": MODEL}, site={"account": "projekt"})
    with study.started(*COMMAND) as process:
        assert process.wait(120) != 0
    assert "projekt" in study.told()
    assert not study.jobs()
