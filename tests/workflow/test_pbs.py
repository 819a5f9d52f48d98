"""Studies on PBS machines, through a stand-in that enforces PBS's syntax and the queues' rules.

Every study here is the same eight problems, so that all can be held against one run on one
machine, whatever happened to their jobs.
"""

import os
import re
import signal
import stat
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dhd.records import load_records
from support.pbs_study import PbsStudy, make_study
from support.studies import finished_more_than_once, journal_lines

pytestmark = [pytest.mark.workflow, pytest.mark.slow, pytest.mark.cluster]

PROBLEMS = 8
ONE_PROBLEM_SHARDS: dict[str, Any] = {
    "problems": PROBLEMS,
    "shards": {"problems": 1},
    "bundles": {"deliberation_shards": 4, "judging_shards": 8},
}


def scripted(**settings: Any) -> dict[str, Any]:
    """Return a models file's content; the answers depend on the name alone."""
    return {"m": {"engine": "scripted", "name": "m", **settings}}


#: Some seconds a job of four problems.
SLOW = scripted(max_in_flight=8, latency_s=0.7)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the study on one machine."""
    study = make_study(
        tmp_path_factory.mktemp("calm") / "study", models=scripted(), **ONE_PROBLEM_SHARDS
    )
    config = ("--configfile", "config/paper.yaml")
    ran = study.call(
        "snakemake", "--cores", "2", "--resources", "engines=1", *config, "--", "records"
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return study.folder


def assert_as_if_nothing_had_happened(study: PbsStudy, calm: Path) -> None:
    """Assert that a study's records are those of one machine, and nothing was asked twice."""
    assert not finished_more_than_once(study.folder)
    ours, theirs = (
        load_records(folder / "results" / "scripted" / "records") for folder in (study.folder, calm)
    )
    for table in ("problems", "messages", "outcomes", "evaluations"):
        pd.testing.assert_frame_equal(getattr(ours, table), getattr(theirs, table))
    keys = [{line["key"] for line in journal_lines(folder)} for folder in (study.folder, calm)]
    assert keys[0] == keys[1]


def calls_a_minute(study: PbsStudy) -> int:
    """Return the most calls of qstat within any minute."""
    times = study.calls("qstat")
    return max((sum(start <= t < start + 60 for t in times) for start in times), default=0)


def test_the_literal_command_runs_the_study_to_tables_and_figures(
    tmp_path: Path, calm: Path
) -> None:
    study = make_study(tmp_path / "study", models=scripted(), **ONE_PROBLEM_SHARDS)
    mask = os.umask(0o027)
    try:
        study.finish(study.start("snakemake", "--profile", "polaris"))
    finally:
        os.umask(mask)
    assert_as_if_nothing_had_happened(study, calm)
    results = study.folder / "results" / "scripted"
    assert (results / "tables" / "table_04.csv").exists()
    assert (results / "figures" / "figure_04.pdf").exists()
    jobs = study.jobs().values()
    assert len(jobs) == 3
    assert {job["Resource_List"]["select"] for job in jobs} == {"1:system=polaris"}
    assert calls_a_minute(study) <= 25
    assert_nothing_private_is_told(study)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in results.rglob("*") if path.is_file()}
    assert modes == {0o640}
    modes = {
        stat.S_IMODE(path.stat().st_mode) for path in (study.folder / "logs" / "pbs").iterdir()
    }
    again = study.call("snakemake", "--profile", "polaris")
    assert "Nothing to be done" in again.stdout + again.stderr
    assert len(study.jobs()) == len(jobs)


def assert_nothing_private_is_told(study: PbsStudy) -> None:
    """Assert that PBS learns no problem, no key, and jobs' names say rule and number."""
    told = [path.read_text() for path in study.server.iterdir() if path.suffix != ".SC"]
    scripts = [path.read_text() for path in study.server.glob("*.SC")]
    for text in [*told, *scripts]:
        assert "sentinel-of-a-secret" not in text
        assert "plus" not in text
    for job in study.jobs().values():
        assert re.fullmatch(r"dhd\.[a-z_]+\.\d+\.[0-9a-f]{8}", job["Job_Name"])


def test_bundles_of_two_nodes_start_a_rank_on_each(tmp_path: Path, calm: Path) -> None:
    study = make_study(
        tmp_path / "study",
        models=scripted(engines_per_node=2),
        site={"nodes": 2},
        **ONE_PROBLEM_SHARDS | {"bundles": {"deliberation_shards": 3, "judging_shards": 8}},
    )
    study.finish(study.start("snakemake", "--profile", "polaris", "records"))
    assert_as_if_nothing_had_happened(study, calm)
    # Eight shards, three a node: six take two nodes, the other two fit one; judging needs none.
    assert sorted(job["_size"] for job in study.jobs().values()) == [1, 1, 2]
    assert len(study.calls("mpiexec")) == 1


def test_sophia_gives_single_gpus(tmp_path: Path, calm: Path) -> None:
    study = make_study(
        tmp_path / "study",
        machine="sophia",
        models=scripted(engines_per_node=2),
        site={"queue": "by-gpu", "gpus": 4, "cpu": {"queue": "by-gpu"}},
        **ONE_PROBLEM_SHARDS | {"bundles": {"deliberation_shards": 8, "judging_shards": 8}},
    )
    study.finish(study.start("snakemake", "--profile", "sophia", "records"))
    assert_as_if_nothing_had_happened(study, calm)
    selected = [job["Resource_List"]["select"] for job in study.jobs().values()]
    assert sorted(selected) == ["1", "4"]


#: Sites by what they reach: machine, keys of the site file, and the sizes and queues of the jobs
#: that generate and judge.
QUEUES: dict[str, tuple[str, dict[str, Any], list[tuple[str, int]]]] = {
    "two nodes of Sophia": (
        "sophia",
        {"queue": "by-node", "nodes": 2, "cpu": {"queue": "by-gpu"}},
        [("by-gpu", 1), ("by-node", 2)],
    ),
    "Sophia's large GPUs": (
        "sophia",
        {"queue": "bigmem", "gpu_memory_gb": 80, "cpu": {"queue": "by-gpu"}},
        [("bigmem", 1), ("bigmem", 1), ("by-gpu", 1)],
    ),
    "Polaris's debug queue": (
        "polaris",
        {"queue": "debug", "nodes": 2},
        [("debug", 1), ("debug", 2)],
    ),
    "ten nodes of Polaris": (
        "polaris",
        {"queue": "prod", "nodes": 10, "cpu": {"queue": "debug"}},
        [("debug", 1), ("prod", 10)],
    ),
}


def test_every_queue_is_reached_by_the_site_file_alone(tmp_path: Path, calm: Path) -> None:
    running = []
    for number, (machine, site, _) in enumerate(QUEUES.values()):
        study = make_study(
            tmp_path / str(number),
            machine=machine,
            models=scripted(engines_per_node=1),
            site=site,
            **ONE_PROBLEM_SHARDS,
        )
        running.append((study, study.start("snakemake", "--profile", machine, "records")))
    for (study, controller), (name, (*_, expected)) in zip(running, QUEUES.items(), strict=True):
        study.finish(controller)
        assert_as_if_nothing_had_happened(study, calm)
        sizes = [(job["queue"], job["_size"]) for job in study.jobs().values()]
        assert sorted(sizes) == expected, name


def test_a_wrong_account_ends_the_run_after_some_refusals(tmp_path: Path) -> None:
    study = make_study(
        tmp_path / "study",
        models=scripted(),
        site={"account": "expired"},
        **ONE_PROBLEM_SHARDS | {"bundles": {"deliberation_shards": 1, "judging_shards": 8}},
    )
    refused = study.call("snakemake", "--profile", "polaris", "records")
    assert refused.returncode != 0
    told = refused.stdout + refused.stderr
    assert "not submitted: qsub: Invalid account for user" in told
    assert "PBS refused 3 submissions in a row" in told
    # All that were ready are told to PBS once: nothing is tried again.
    assert len(study.calls("qsub")) <= PROBLEMS
    assert not study.jobs()


def test_scripts_submitted_by_hand_beside_their_jobs_change_nothing(
    tmp_path: Path, calm: Path
) -> None:
    study = make_study(
        tmp_path / "study",
        models=SLOW,
        **ONE_PROBLEM_SHARDS | {"bundles": {"deliberation_shards": 8, "judging_shards": 8}},
    )
    controller = study.start("snakemake", "--profile", "polaris", "records")
    study.wait_for(lambda: study.answers() > 5)
    [number] = study.jobs_in("R")
    qsub = ("qsub", "-A", "test-project", "-q", "preemptable", "-l", "select=1:system=polaris")
    limits = ("-l", "walltime=01:00:00", "-l", "filesystems=home:eagle")
    for _ in range(2):
        assert study.call(*qsub, *limits, str(study.server / f"{number}.SC")).returncode == 0
    study.finish(controller)
    study.wait_for(lambda: not study.jobs_in("R"))
    # What the copies may have taken away is made again, from the journals.
    study.finish(study.start("dhd", "resume", "--profile", "polaris", "records"))
    assert_as_if_nothing_had_happened(study, calm)


def test_preempted_and_deleted_jobs_a_broken_off_qsub_and_a_server_that_is_away(
    tmp_path: Path, calm: Path
) -> None:
    study = make_study(tmp_path / "study", models=SLOW, **ONE_PROBLEM_SHARDS)
    study.server.mkdir()
    (study.server / "break_off").touch()
    controller = study.start("snakemake", "--profile", "polaris", "records")
    study.wait_for(lambda: len(study.jobs_in("R", "deliberate")) >= 2)
    study.wait_for(lambda: study.answers() > 5)
    preempted, deleted = study.jobs_in("R", "deliberate")
    assert study.call("qrerun", preempted).returncode == 0
    assert study.call("qdel", deleted).returncode == 0
    (study.server / "outage").write_text(str(time.time() + 20))
    study.finish(controller)
    assert_as_if_nothing_had_happened(study, calm)
    assert study.jobs()[preempted]["run_count"] == 2
    assert study.jobs()[deleted]["Exit_status"] != 0
    # Two bundles, of one of which qsub had not told the id, and one for judging; the deleted one
    # was submitted once more.
    assert "qsub broke off, but PBS has the job" in (study.folder / "console.log").read_text()
    assert len(study.jobs()) == 4
    assert calls_a_minute(study) <= 25


def test_jobs_that_meet_their_walltime_go_on_in_the_next(tmp_path: Path, calm: Path) -> None:
    study = make_study(
        tmp_path / "study",
        models=SLOW,
        **ONE_PROBLEM_SHARDS | {"bundles": {"deliberation_shards": 8, "judging_shards": 8}},
    )
    controller = study.start("snakemake", "--profile", "polaris", "records")
    for _ in range(2):
        before = study.answers()
        study.wait_for(lambda before=before: study.answers() > before + 5)
        assert study.call("qexpire", *study.jobs_in("R")).returncode == 0
        study.wait_for(lambda: not study.jobs_in("R"))
    study.finish(controller)
    assert_as_if_nothing_had_happened(study, calm)
    assert [job["Exit_status"] for job in study.jobs().values()] == [-29, -29, 0, 0]


def test_a_full_queue_is_waited_for(tmp_path: Path, calm: Path) -> None:
    study = make_study(
        tmp_path / "study",
        models=scripted(),
        site={"queue": "capacity"},
        **ONE_PROBLEM_SHARDS | {"bundles": {"deliberation_shards": 8, "judging_shards": 8}},
    )
    # Somebody else's jobs in a queue that takes two, until they are told to end.
    qsub = ("qsub", "-A", "other", "-q", "capacity", "-N", "other", "-l", "select=1")
    (study.folder / "other.sh").write_text(
        'until [ -e "$PBS_O_WORKDIR/release" ]; do sleep 0.5; done\n'
    )
    for _ in range(2):
        limits = ("-l", "walltime=01:00:00", "-l", "filesystems=home")
        assert study.call(*qsub, *limits, "other.sh").returncode == 0
    refused = study.call("snakemake", "--profile", "polaris", "records")
    assert "takes 2 job(s) of a user, queued and running, not 20; run with --jobs 2" in (
        refused.stdout + refused.stderr
    )
    controller = study.start("snakemake", "--profile", "polaris", "--jobs", "2", "records")
    console = study.folder / "console.log"
    study.wait_for(lambda: "waits to be submitted" in console.read_text())
    assert len(study.jobs()) == 2
    (study.folder / "release").touch()
    study.finish(controller)
    assert_as_if_nothing_had_happened(study, calm)


def test_dhd_resume_after_the_controller_was_killed(tmp_path: Path, calm: Path) -> None:
    study = make_study(
        tmp_path / "study",
        models=SLOW,
        **ONE_PROBLEM_SHARDS | {"bundles": {"deliberation_shards": 3, "judging_shards": 8}},
    )
    study.variables = {"FAKEPBS_NODES": "1"}
    controller = study.start("snakemake", "--profile", "polaris", "records")
    study.wait_for(lambda: len(study.jobs()) == 3)
    study.wait_for(lambda: study.answers() > 5)
    beside = study.call("dhd", "resume", "--profile", "polaris", "records")
    assert "Snakemake seems to run here" in beside.stderr
    os.killpg(controller.pid, signal.SIGKILL)
    controller.wait()
    orphans = study.jobs_in("R") + study.jobs_in("Q")
    assert study.jobs_in("R")
    assert study.jobs_in("Q")
    locked = study.call("snakemake", "--profile", "polaris", "records")
    assert locked.returncode != 0
    assert "dhd resume --profile polaris" in locked.stderr
    study.finish(study.start("dhd", "resume", "--profile", "polaris", "records"))
    assert {study.jobs()[number]["job_state"] for number in orphans} == {"F"}
    assert_as_if_nothing_had_happened(study, calm)


def test_an_impossible_plan_submits_nothing_and_says_what_would_fit(tmp_path: Path) -> None:
    study = make_study(
        tmp_path / "study",
        models=scripted(engines_per_node=1),
        site={"queue": "debug", "nodes": 4},
        bundles={"deliberation_shards": 1, "judging_shards": 1},
    )
    refused = study.call("snakemake", "--profile", "polaris")
    assert refused.returncode != 0
    told = refused.stdout + refused.stderr
    assert "Polaris's queue 'debug' takes 1 to 2 nodes, not 4" in told
    assert "preemptable" in told
    assert not study.jobs()
    assert not (study.folder / "results").exists()
