"""What is said to Slurm, and what is made of its answers."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dhd.errors import ConfigError, SchedulerError
from dhd.schedulers import partitions, slurm
from dhd.schedulers.base import SchedulerJob
from dhd.sites.site import Site

PARTITIONS = """\
PartitionName=debug AllowGroups=ALL Default=YES MaxNodes=2 MaxTime=01:00:00 MinNodes=0 TotalNodes=3
PartitionName=long Default=NO MaxNodes=UNLIMITED MaxTime=2-12:30:00 MinNodes=4 TotalNodes=64
PartitionName=open Default=NO MaxNodes=UNLIMITED MaxTime=UNLIMITED MinNodes=1 TotalNodes=8
PartitionName=empty Default=NO MaxNodes=UNLIMITED MaxTime=UNLIMITED MinNodes=1 TotalNodes=0
"""


def site(**keys: Any) -> Site:
    return Site.model_validate(
        {
            "scheduler": "slurm",
            "queue": "gpu",
            "walltime": "06:00:00",
            "gpus_per_node": 4,
            "gpu_memory_gb": 40,
            "file": "site.yaml",
        }
        | keys
    )


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> dict[str, subprocess.CompletedProcess[str]]:
    """Let commands answer what a test says; return the answers by command."""
    answers: dict[str, subprocess.CompletedProcess[str]] = {}

    def ask(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        answer = answers[command[0]]
        answer.args = [*(answer.args or []), list(command)]
        return answer

    monkeypatch.setattr(slurm, "ask", ask)
    monkeypatch.setattr(partitions, "ask", ask)
    monkeypatch.setattr(partitions.shutil, "which", lambda _: "/usr/bin/scontrol")
    return answers


def answer(text: str = "", *, error: str = "", code: int = 0) -> subprocess.CompletedProcess[str]:
    return subprocess.CompletedProcess([], code, text, error)


def test_a_job_with_engines_takes_the_gpus_of_its_nodes() -> None:
    asked = slurm.job_resources(
        site(account="project", cpus=32, memory_gb=200), nodes=2, minutes=360, engines=True
    )
    assert asked == {
        "slurm_account": "project",
        "slurm_partition": "gpu",
        "runtime": 360,
        "nodes": 2,
        "gres": "gpu:4",
        "cpus_per_task": 32,
        "mem_mb": 204_800,
        "qos": None,
        "constraint": None,
        "slurm_extra": None,
    }


def test_a_job_without_engines_takes_no_gpu_and_the_clusters_defaults() -> None:
    asked = slurm.job_resources(
        site(gres="gpu:a100:4", cpus=32, memory_gb=200, cpu={"queue": "cpu"}),
        nodes=1,
        minutes=30,
        engines=False,
    )
    assert (asked["slurm_partition"], asked["gres"]) == ("cpu", "")
    assert (asked["cpus_per_task"], asked["mem_mb"]) == (-1, 0)


def test_all_jobs_have_the_same_resources() -> None:
    with_gpus = slurm.job_resources(site(), nodes=1, minutes=1, engines=True)
    without = slurm.job_resources(site(), nodes=1, minutes=1, engines=False)
    assert with_gpus.keys() == without.keys()


def test_options_that_the_plugin_has_resources_for_are_split_off() -> None:
    options = "--qos=long --exclusive -C 'a100&nvlink' --reservation big"
    assert slurm.split_options(options) == ("long", "a100&nvlink", "--exclusive --reservation big")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--mem=0", "--mem is what 'memory_gb' says"),
        ("-N2 --exclusive", "-N is what 'nodes' says"),
        ("--time 10", "--time is what 'walltime' says"),
        ("--job-name=x", "--job-name is set for every job"),
        ("--comment 'x", "No closing quotation"),
        ("--qos", "expected one argument"),
        ("long", "'long' is no option; sbatch would take it for the job's script"),
        ("--reservation=big job.sh", "'job.sh' is no option"),
        ("--reservation big job.sh", "'job.sh' is no option"),
    ],
)
def test_options_that_contradict_the_site_are_refused(options: str, expected: str) -> None:
    with pytest.raises(ConfigError, match="options = ") as caught:
        slurm.split_options(options)
    assert expected in str(caught.value)


def test_the_set_up_runs_in_bash_and_hands_its_variables_to_sh(tmp_path: Path) -> None:
    setup = [
        'module() { export LOADED="$*"; }',
        "module load 'a b'",
        "echo noise",
        "[[ -n $LOADED ]] && export TRICKY=$'quote\" dollar$ back` tick\\' \\\\ end'",
    ]
    slurm.write_setup(site(setup=setup, environment={"PLAIN": "it's 1"}), tmp_path)
    command = f'. {slurm.SETUP} && printf \'%s|\' "$LOADED" "$TRICKY" "$PLAIN"'
    ran = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "load a b|quote\" dollar$ back` tick' \\ end|it's 1|"
    assert ran.stderr == "noise\n"


def test_the_set_up_notes_when_the_job_started(tmp_path: Path) -> None:
    slurm.write_setup(site(), tmp_path)
    command = f'. {slurm.SETUP} && echo "$DHD_JOB_START"'
    ran = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert ran.stdout.strip().isdecimal()


def test_jobs_have_the_umask_of_the_user(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        slurm.write_setup(site(), tmp_path)
        os.umask(0o077)
        command = ["sh", "-c", f". {slurm.SETUP} && umask"]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    finally:
        os.umask(mask)
    assert ran.stdout.strip() == "0027"


def test_jobs_of_a_folder_are_found_by_name_and_folder(
    told: dict[str, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    told["squeue"] = answer(
        f"7|PENDING|dhd_0b|{tmp_path}\n"
        f"8|RUNNING|dhd_0b|{tmp_path}/link\n"
        f"9|COMPLETING|dhd_0c|{tmp_path}\n"
        f"10|RUNNING|other|{tmp_path}\n"
        f"11|RUNNING|dhd_0b|{tmp_path.parent}\n"
        f"12|RUNNING|of two\nlines|{tmp_path}\n"
    )
    assert slurm.jobs_of_folder(tmp_path) == [
        SchedulerJob("7", "dhd_0b", "queued"),
        SchedulerJob("8", "dhd_0b", "running"),
        SchedulerJob("9", "dhd_0c", "running"),
    ]


def test_a_slurm_that_does_not_answer_is_an_error(
    told: dict[str, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    told["squeue"] = answer(
        error="slurm_load_jobs error: Unable to contact slurm controller", code=1
    )
    with pytest.raises(SchedulerError, match="Unable to contact"):
        slurm.jobs_of_folder(tmp_path)


def test_jobs_that_have_ended_meanwhile_are_no_fault_of_a_cancellation(
    told: dict[str, subprocess.CompletedProcess[str]],
) -> None:
    told["scancel"] = answer(
        error="scancel: error: Kill job error on job id 7: Invalid job id specified\n"
        "scancel: error: Kill job error on job id 8: Job/step already completing or completed\n",
        code=1,
    )
    slurm.cancel([SchedulerJob("7", "dhd_0b", "queued"), SchedulerJob("8", "dhd_0b", "running")])
    assert told["scancel"].args == [["scancel", "7", "8"]]


def test_a_refused_cancellation_is_an_error(
    told: dict[str, subprocess.CompletedProcess[str]],
) -> None:
    told["scancel"] = answer(error="scancel: error: Access/permission denied\n", code=1)
    with pytest.raises(SchedulerError, match="permission denied"):
        slurm.cancel([SchedulerJob("7", "dhd_0b", "queued")])


def test_many_jobs_are_cancelled_in_several_commands(
    told: dict[str, subprocess.CompletedProcess[str]],
) -> None:
    told["scancel"] = answer()
    slurm.cancel([SchedulerJob(str(n), "dhd_0b", "queued") for n in range(450)])
    assert [len(command) - 1 for command in told["scancel"].args] == [200, 200, 50]


def test_limits_of_partitions_become_rules(
    told: dict[str, subprocess.CompletedProcess[str]],
) -> None:
    told["scontrol"] = answer(PARTITIONS)
    found = partitions.machine(partitions.partitions())
    assert found is not None
    limits = {
        name: (rules.sizes[0].min, rules.sizes[0].max, rules.sizes[0].max_walltime)
        for name, rules in found.queues.items()
    }
    assert limits == {
        "debug": (1, 2, "01:00:00"),
        "long": (4, 64, "60:30:00"),
        "open": (1, 8, "999:59:59"),
    }


def test_a_slurm_that_does_not_tell_its_partitions_has_no_rules(
    told: dict[str, subprocess.CompletedProcess[str]],
) -> None:
    told["scontrol"] = answer(error="slurm_load_partitions: Unable to contact", code=1)
    assert partitions.partitions() == []
    assert partitions.machine([]) is None


def test_an_unknown_partition_is_refused_with_those_there_are(
    told: dict[str, subprocess.CompletedProcess[str]],
) -> None:
    told["scontrol"] = answer(PARTITIONS)
    with pytest.raises(ConfigError, match="queue = 'gpu': this cluster has the partitions debug, "):
        slurm.prepare(site())
    prepared, warnings = slurm.prepare(site(queue="long"))
    assert prepared.machine is not None
    assert not warnings


def test_jobs_know_the_partitions_as_the_run_began_with_them(
    told: dict[str, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    with pytest.raises(SchedulerError, match="no run of Snakemake has begun"):
        slurm.noted(site(queue="long"), tmp_path)
    told["scontrol"] = answer(PARTITIONS)
    prepared, _ = slurm.prepare(site(queue="long"))
    slurm.write_notes(prepared, tmp_path)
    assert slurm.noted(site(queue="long"), tmp_path) == prepared
    # A dry run beside it, for which Slurm has other partitions or none, changes nothing.
    told["scontrol"] = answer(error="Unable to contact slurm controller", code=1)
    unknown, [warning] = slurm.prepare(site(queue="long"))
    assert unknown.machine is None
    assert "nodes and walltimes were not checked against their limits" in warning
    assert slurm.noted(site(queue="long"), tmp_path) == prepared
    slurm.write_notes(site(queue="long"), tmp_path)
    assert slurm.noted(site(queue="long"), tmp_path) == site(queue="long")


def test_a_partition_that_cancels_preempted_jobs_is_warned_of(
    told: dict[str, subprocess.CompletedProcess[str]],
) -> None:
    told["scontrol"] = answer(PARTITIONS.replace("Default=YES", "PreemptMode=GANG,CANCEL"))
    _, [warning] = slurm.prepare(site(queue="debug", cpu={"queue": "open"}))
    assert "'debug' cancels preempted jobs" in warning
