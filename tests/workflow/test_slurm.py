"""A scripted study on a real Slurm: preempted, cancelled, on several nodes, and resumed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dhd.records import load_records
from support.slurm_study import SlurmStudy, make_study, running_slurm, sbatch_on, show_job
from support.studies import finished_more_than_once, journal_lines

pytestmark = [pytest.mark.workflow, pytest.mark.cluster]

COMMAND = ("snakemake", "--profile", "slurm", "--quiet", "rules", "--", "records")
#: Eight problems of 25 requests in four shards.
SLOW = {"engine": "scripted", "engines_per_node": 1, "max_in_flight": 5, "latency_s": 0.3}
SLOWER = SLOW | {"latency_s": 1.0}
#: All shards in one bundle, so in one job.
WHOLE: dict[str, Any] = {"bundles": {"deliberation_shards": 4, "judging_shards": 4}}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Start a Slurm of three nodes; skip where that is not possible."""
    folder = tmp_path_factory.mktemp("slurm")
    with running_slurm(folder, accounting=False):
        yield folder


@dataclass(frozen=True)
class Calm:
    """An undisturbed study on one node a job, and the same on two."""

    single: SlurmStudy
    double: SlurmStudy


@dataclass(frozen=True)
class Disturbed:
    """A study whose jobs were preempted and cancelled, and one whose controller was killed."""

    study: SlurmStudy
    preempted: str
    cancelled: str
    resumed: SlurmStudy
    orphans: tuple[str, ...]


@dataclass(frozen=True)
class CutOff:
    """A study whose generating job was cut by Slurm's time limit, and its controller."""

    study: SlurmStudy
    job: str
    process: subprocess.Popen[bytes]


@pytest.fixture(scope="module")
def cut_off(cluster: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CutOff]:
    """Start a study and shorten its job's time to a minute; Slurm cuts it while others run.

    The job knows of half an hour, so that nothing but Slurm's signal tells it to stop. It takes
    the GPU that the others leave on every node.
    """
    study = make_study(
        tmp_path_factory.mktemp("cut") / "study",
        models={"m": SLOWER | {"latency_s": 3.0}},
        site={"queue": "debug", "gpus_per_node": 1},
        **WHOLE,
    )
    with study.started(*COMMAND) as process:
        study.wait_for(lambda: study.answers() > 0)
        [job] = study.jobs("RUNNING")
        subprocess.run(["scontrol", "update", f"JobId={job}", "TimeLimit=1"], check=True)
        yield CutOff(study, job, process)


@pytest.fixture(scope="module")
def calm(cluster: Path, cut_off: CutOff, tmp_path_factory: pytest.TempPathFactory) -> Calm:
    """Run both studies side by side: they fill the three nodes."""
    folder = tmp_path_factory.mktemp("calm")
    single = make_study(folder / "single", models={"m": SLOW}, site={"queue": "debug"}, **WHOLE)
    double = make_study(folder / "double", models={"m": SLOW}, site={"queue": "debug", "nodes": 2})
    with single.started(*COMMAND) as one, double.started(*COMMAND) as other:
        single.finish(one)
        double.finish(other)
    return Calm(single, double)


@pytest.fixture(scope="module")
def disturbed(cluster: Path, tmp_path_factory: pytest.TempPathFactory) -> Disturbed:
    """Run the same study twice, side by side.

    In one, one of its two generating jobs is preempted and the other cancelled. The other's
    controller is killed while its generating job runs.
    """
    folder = tmp_path_factory.mktemp("disturbed")
    study = make_study(folder / "study", models={"m": SLOWER})
    resumed = make_study(folder / "resumed", models={"m": SLOWER}, **WHOLE)
    with study.started(*COMMAND) as process, resumed.started(*COMMAND) as killed:
        resumed.wait_for(lambda: resumed.answered_in_all(1))
        os.killpg(killed.pid, signal.SIGKILL)
        orphans = tuple(resumed.jobs("RUNNING"))
        study.wait_for(lambda: study.answered_in_all(2))
        preempted, cancelled = study.jobs("RUNNING")
        sbatch_on(show_job(preempted)["NodeList"], seconds=5)
        subprocess.run(["scancel", cancelled], check=True)
        with resumed.started("dhd", "resume", *COMMAND[1:]) as again:
            study.finish(process)
            resumed.finish(again)
    return Disturbed(study, preempted, cancelled, resumed, orphans)


def tables(study: SlurmStudy) -> dict[str, pd.DataFrame]:
    """Return the records that say what was asked, answered and judged."""
    records = load_records(study.folder / "results" / "scripted" / "records")
    return {name: getattr(records, name) for name in ("problems", "messages", "outcomes")}


def assert_same_records(one: SlurmStudy, other: SlurmStudy) -> None:
    ours, theirs = tables(one), tables(other)
    for name, table in ours.items():
        pd.testing.assert_frame_equal(table, theirs[name], obj=name)


def keys(study: SlurmStudy) -> list[str]:
    """Return the keys of all journal lines, sorted."""
    return sorted(line["key"] for line in journal_lines(study.folder))


def test_a_job_with_engines_takes_gpus_and_judging_by_rules_none(calm: Calm) -> None:
    jobs = calm.single.jobs("COMPLETED")
    assert sorted(jobs.values()) == [
        "rule_deliberate_bundle_wildcards_alpha_sums_0000",
        "rule_judge_bundle_wildcards_scan_sums_0000",
    ]
    shown = [show_job(job) for job in jobs]
    assert [one.get("TresPerNode") for one in shown] == ["gres:gpu:4", None]
    assert {(one["NumNodes"], one["Requeue"]) for one in shown} == {("1", "1")}


def test_a_bundle_on_two_nodes_gives_the_same_records(calm: Calm) -> None:
    [job] = [job for job, comment in calm.double.jobs().items() if "deliberate" in comment]
    assert show_job(job)["NumNodes"] == "2"
    workers = [log for log in calm.double.logs("deliberate_bundle") if "worker" in log.name]
    answered = [re.findall(r"(\d+) answered", log.read_text()) for log in workers]
    assert len(answered) == 2
    assert all(int(count) > 0 for [count] in answered)
    assert_same_records(calm.double, calm.single)
    assert keys(calm.double) == keys(calm.single)


def test_jobs_tell_nothing_but_rule_and_wildcards(calm: Calm) -> None:
    for job, comment in calm.single.jobs().items():
        assert re.fullmatch(r"rule_\w+_wildcards_\w+", comment)
        shown = show_job(job)
        assert re.fullmatch(r"dhd_[\w-]+", shown["JobName"])
        assert not re.search(r"what is|sentinel", str(shown))
    assert "sentinel" not in calm.single.told()


def test_a_preempted_job_goes_on_under_its_own_number(disturbed: Disturbed) -> None:
    shown = show_job(disturbed.preempted)
    assert (shown["Restarts"], shown["JobState"]) == ("1", "COMPLETED")


def test_a_cancelled_job_is_submitted_again(disturbed: Disturbed) -> None:
    jobs = disturbed.study.jobs()
    again = [job for job, comment in jobs.items() if comment == jobs[disturbed.cancelled]]
    assert [show_job(job)["JobState"] for job in again] == ["CANCELLED", "COMPLETED"]


def test_preempted_and_cancelled_jobs_ask_nothing_twice_and_give_the_same_records(
    disturbed: Disturbed, calm: Calm
) -> None:
    assert not finished_more_than_once(disturbed.study.folder)
    assert keys(disturbed.study) == keys(calm.single)
    assert_same_records(disturbed.study, calm.single)


def test_resume_cancels_what_a_killed_controller_left_and_goes_on(
    disturbed: Disturbed, calm: Calm
) -> None:
    [orphan] = disturbed.orphans
    assert show_job(orphan)["JobState"] == "CANCELLED"
    assert not finished_more_than_once(disturbed.resumed.folder)
    assert keys(disturbed.resumed) == keys(calm.single)
    assert_same_records(disturbed.resumed, calm.single)


def test_a_job_that_slurm_cuts_drains_and_goes_on_in_the_next(
    cut_off: CutOff, calm: Calm, disturbed: Disturbed
) -> None:
    study = cut_off.study
    study.finish(cut_off.process)
    states = [
        show_job(job)["JobState"]
        for job, comment in study.jobs().items()
        if "deliberate" in comment
    ]
    assert show_job(cut_off.job)["JobState"] == "TIMEOUT"
    assert states == ["TIMEOUT", "COMPLETED"]
    assert "SIGTERM received" in study.told()
    assert not finished_more_than_once(study.folder)
    assert keys(study) == keys(calm.single)
    assert_same_records(study, calm.single)


@pytest.mark.parametrize(
    ("site", "expected"),
    [
        ({"queue": "gpu"}, "queue = 'gpu': this cluster has the partitions debug, preemptable"),
        ({"walltime": "72:00:00"}, "for at most 02:00:00, not 72:00:00"),
        ({"queue": "debug", "nodes": 3}, "takes 1 to 2 nodes, not 3; preemptable would take it"),
        ({"options": "--mem=0"}, "--mem is what 'memory_gb' says; remove it here"),
        ({"model_folder": "CHANGE_ME"}, "model_folder"),
    ],
)
def test_an_impossible_site_is_refused_before_a_job_is_submitted(
    cluster: Path, tmp_path: Path, site: dict[str, Any], expected: str
) -> None:
    study = make_study(tmp_path / "study", models={"m": SLOW}, problems=40, site=site)
    with study.started(*COMMAND) as process:
        assert process.wait(60) != 0
    assert expected in study.told()
    assert not study.jobs()
