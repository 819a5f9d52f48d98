"""A dry run on a Slurm whose partition takes no job of one node, in a folder where a run works."""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from dhd.schedulers import slurm
from support.slurm_study import SlurmStudy, make_study

pytestmark = [pytest.mark.workflow, pytest.mark.cluster]

PARTITION = "PartitionName=large MaxNodes=UNLIMITED MaxTime=02:00:00 MinNodes=2 TotalNodes=8"
JUDGING = "PartitionName=small MaxNodes=1 MaxTime=02:00:00 MinNodes=1 TotalNodes=8"
#: How Snakemake starts itself in a job.
AS_IN_A_JOB = (
    *("--mode", "remote", "--configfile", "config/paper.yaml"),
    *("--default-resources", "site='profiles/slurm/site.yaml'"),
)


@dataclass(frozen=True)
class LoginNode:
    """A study on a login node whose scontrol answers what a file says."""

    study: SlurmStudy
    partitions: Path

    def nodes_of_dry_run(self, *options: str) -> list[str]:
        """Return the nodes that the jobs of a dry run ask for."""
        path = os.pathsep.join((str(self.partitions.parent), self.study.environment["PATH"]))
        command = ["snakemake", "--profile", "slurm", "--dry-run", *options, "--", "records"]
        ran = subprocess.run(
            command,
            cwd=self.study.folder,
            env=self.study.environment | {"PATH": path},
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        rule = r"^rule deliberate_bundle:\n(?:    .*\n)*?    resources: .*\bnodes=(\d+)"
        return sorted(re.findall(rule, ran.stdout + ran.stderr, re.MULTILINE))


@pytest.fixture(scope="module")
def login_node(tmp_path_factory: pytest.TempPathFactory) -> LoginNode:
    """Make a study of three shards, two of which fill a job of two nodes."""
    folder = tmp_path_factory.mktemp("login")
    study = make_study(
        folder / "study",
        models={"m": {"engine": "scripted", "engines_per_node": 1}},
        site={"queue": "large", "nodes": 2, "cpu": {"queue": "small"}},
        problems=6,
        bundles={"deliberation_shards": 1, "judging_shards": 4},
    )
    commands = folder / "bin"
    commands.mkdir()
    (commands / "partitions").write_text(f"{PARTITION}\n{JUDGING}\n")
    (commands / "scontrol").write_text(f"#!/bin/sh\ncat '{commands}/partitions'\n")
    (commands / "scontrol").chmod(0o755)
    return LoginNode(study, commands / "partitions")


def test_a_small_last_bundle_asks_for_what_the_partition_takes(login_node: LoginNode) -> None:
    assert login_node.nodes_of_dry_run() == ["2", "2"]
    # Nothing was written that jobs of a run beside it would read.
    assert not list(login_node.study.folder.glob(".snakemake/dhd-*"))


def test_a_job_knows_the_size_with_which_it_was_submitted(login_node: LoginNode) -> None:
    folder = login_node.study.folder
    (folder / slurm.MACHINE).parent.mkdir(exist_ok=True)
    sizes = {"min": 2, "max": 8, "max_walltime": "02:00:00"}
    note = {
        "name": "Slurm",
        "source": "scontrol show partition",
        "checked": "2026-11-30",
        "queues": {"large": {"sizes": [sizes]}},
    }
    (folder / slurm.MACHINE).write_text(json.dumps(note))
    assert login_node.nodes_of_dry_run(*AS_IN_A_JOB) == ["2", "2"]
