"""What is said to PBS when a job is submitted."""

import contextlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dhd.errors import ConfigError, SchedulerError
from dhd.schedulers import pbs, pbs_state, pbs_submit
from dhd.schedulers.pbs import (
    PbsRequest,
    PbsSite,
    job_text,
    qsub_command,
)
from dhd.schedulers.pbs_submit import submit, unique_name
from support.pbs_clients import Client, clients_on_path
from support.sites import site_of as checked_site


def site_of(*args: Any, **changes: Any) -> PbsSite:
    return PbsSite.of(checked_site(*args, **changes))


REQUEST = PbsRequest("dhd.deliberate_bundle.7", "preemptable", 4, 360)


@pytest.fixture
def clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Client]:
    return clients_on_path(tmp_path, monkeypatch)


@pytest.fixture
def jobscript(tmp_path: Path) -> Path:
    path = tmp_path / "jobscript.sh"
    path.write_text("#!/bin/sh\n# properties = {}\ncd /x && true && exit 0 || exit 1\n")
    return path


def test_a_job_says_what_polaris_wants_to_know(tmp_path: Path, project_root: Path) -> None:
    command = qsub_command(site_of(tmp_path, project_root), REQUEST)
    text = " ".join(command)
    assert text.startswith("qsub -A project -q preemptable -N dhd.deliberate_bundle.7 -r y -j oe")
    for resource in (
        "select=4:system=polaris",
        "walltime=06:00:00",
        "place=scatter",
        "filesystems=home:eagle",
    ):
        assert f"-l {resource}" in text
    assert "-V" not in command


def test_single_gpus_of_sophia_are_counted_by_select(tmp_path: Path, project_root: Path) -> None:
    site = site_of(
        tmp_path, project_root, "sophia", queue="by-gpu", nodes=1, gpus=2, gpus_per_node=8
    )
    command = qsub_command(site, PbsRequest("dhd.x.1", "by-gpu", 2, 60))
    assert "select=2" in command
    assert not any(word.startswith("place=") for word in command)


def test_hostile_names_become_harmless_and_unique() -> None:
    names = [unique_name("dhd.a b;rm -rf $HOME\n.1") for _ in range(2)]
    assert all(re.fullmatch(r"dhd\.a_b_rm_-rf__HOME_\.1\.[0-9a-f]{8}", name) for name in names)
    assert len(set(names)) == 2
    assert len(unique_name("x" * 500)) <= 230


def test_the_shell_survives_sigterm_and_marks_only_a_good_end(
    tmp_path: Path, project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    site = site_of(tmp_path, project_root, setup=["export FROM_SETUP=yes"])
    environment = os.environ | {"PBS_JOBID": "12.server"}
    for code, is_marked in ((1, False), (0, True)):
        body = f'#!/bin/sh\n[ "$FROM_SETUP" = yes ] && kill -TERM $$ && sleep 0.1; exit {code}\n'
        script = job_text(site, body)
        ran = subprocess.run(["bash"], input=script, text=True, env=environment)
        assert ran.returncode == code
        assert pbs_state.done_marker("12.server").exists() is is_marked


def test_a_full_queue_is_waited_for(
    clients: dict[str, Client], jobscript: Path, tmp_path: Path, project_root: Path
) -> None:
    full = ("", "qsub: would exceed queue preemptable's per-project limit of jobs", 38)
    away = ("", "qsub: cannot connect to server polaris-pbs-01 (errno=111)", 1)
    clients["qsub"].will(full, away, full, ("123.polaris-pbs-01\n", "", 0))
    assert submit(site_of(tmp_path, project_root), REQUEST, jobscript) == "123.polaris-pbs-01"
    assert len(clients["qsub"].calls) == 4


BROKE_OFF = ("", "qsub: End of File", 1)


def test_a_job_whose_qsub_broke_off_is_not_submitted_twice(
    clients: dict[str, Client], jobscript: Path, tmp_path: Path, project_root: Path
) -> None:
    away = ("", "qselect: cannot connect to server", 1)
    clients["qsub"].will(BROKE_OFF, ("124.s", "", 0))
    clients["qselect"].will(away, away, ("123.s\n", "", 0))
    assert submit(site_of(tmp_path, project_root), REQUEST, jobscript) == "123.s"
    [sent] = clients["qsub"].calls
    name = sent[sent.index("-N") + 1]
    assert name.startswith("dhd.deliberate_bundle.7.")
    assert [asked[-2:] for asked in clients["qselect"].calls] == [["-N", name]] * 3


@pytest.mark.parametrize("answer", [BROKE_OFF, ("", "", 0), ("", "", -9)])
def test_a_job_that_pbs_does_not_have_is_sent_again_under_its_name(
    clients: dict[str, Client],
    jobscript: Path,
    tmp_path: Path,
    project_root: Path,
    answer: tuple[str, str, int],
) -> None:
    clients["qsub"].will(answer, ("124.s", "", 0))
    clients["qselect"].will(("", "", 0))
    assert submit(site_of(tmp_path, project_root), REQUEST, jobscript) == "124.s"
    assert len(clients["qselect"].calls) == 1
    one, other = clients["qsub"].calls
    assert one == other


def test_a_qsub_without_an_answer_may_have_submitted(
    clients: dict[str, Client],
    jobscript: Path,
    tmp_path: Path,
    project_root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_answer(command: Any, *, text: str) -> subprocess.CompletedProcess[str]:
        raise SchedulerError(f"{command[0]}: no answer in 120 s")

    monkeypatch.setattr(pbs_submit, "ask", no_answer)
    clients["qselect"].will(("123.s\n", "", 0))
    assert submit(site_of(tmp_path, project_root), REQUEST, jobscript) == "123.s"


@pytest.mark.parametrize(
    "complaint",
    [
        "qsub: would exceed limit on resource ncpus in queue capacity for user me",
        "qsub: cannot connect to server polaris-pbs-01 (errno=111)",
    ],
)
def test_limits_that_one_job_may_break_are_not_waited_for_without_end(
    clients: dict[str, Client],
    jobscript: Path,
    tmp_path: Path,
    project_root: Path,
    monkeypatch: pytest.MonkeyPatch,
    complaint: str,
) -> None:
    clients["qsub"].will(("", complaint, 38))
    hours = iter(range(5))
    monkeypatch.setattr(pbs_submit.time, "monotonic", lambda: 1800.0 * next(hours))
    with pytest.raises(SchedulerError, match=re.escape(complaint)):
        submit(site_of(tmp_path, project_root), REQUEST, jobscript)
    assert len(clients["qsub"].calls) == 2


def test_a_refused_job_fails_at_once_with_the_reason(
    clients: dict[str, Client], jobscript: Path, tmp_path: Path, project_root: Path
) -> None:
    clients["qsub"].will(("", "qsub: Invalid account project", 1))
    with pytest.raises(SchedulerError, match=r"dhd\.deliberate_bundle\.7.*Invalid account"):
        submit(site_of(tmp_path, project_root), REQUEST, jobscript)
    assert len(clients["qsub"].calls) == 1


@pytest.mark.parametrize(
    ("ends", "told"),
    [([0, 0, 0], 1), ([0, 1, 0, 0], 0), ([0, 0, 0, 0, 0, 0], 2)],
    ids=["at the third", "not in a row", "again"],
)
def test_snakemake_is_ended_when_pbs_goes_on_refusing(
    clients: dict[str, Client],
    jobscript: Path,
    tmp_path: Path,
    project_root: Path,
    monkeypatch: pytest.MonkeyPatch,
    ends: list[int],
    told: int,
) -> None:
    ended: list[bool] = []
    monkeypatch.setattr(pbs_submit, "end_controller", lambda: ended.append(True) or True)
    refused = ("", "qsub: Invalid account project", 1)
    clients["qsub"].will(*(refused if end == 0 else ("124.s", "", 0) for end in ends))
    for end in ends:
        with contextlib.suppress(SchedulerError) if end == 0 else contextlib.nullcontext():
            submit(site_of(tmp_path, project_root), REQUEST, jobscript)
    assert len(ended) == told


@pytest.mark.parametrize("code", [0, 3])
def test_an_answer_in_no_known_letters_is_no_traceback(
    clients: dict[str, Client],
    jobscript: Path,
    tmp_path: Path,
    project_root: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
) -> None:
    garbage = tmp_path / "bin" / "qsub"
    garbage.write_text(f"#!/bin/sh\nprintf '\\377\\376\\000' >&2\nprintf '\\377'\nexit {code}\n")
    clients["qselect"].will(("", "", 0))
    hours = iter(range(9))
    monkeypatch.setattr(pbs_submit.time, "monotonic", lambda: 1800.0 * next(hours))
    with pytest.raises(SchedulerError, match="not submitted"):
        submit(site_of(tmp_path, project_root), REQUEST, jobscript)


def test_a_bundle_whose_last_jobs_were_in_vain_is_not_submitted(
    clients: dict[str, Client], jobscript: Path, tmp_path: Path, project_root: Path
) -> None:
    output = "results/s/bundles/deliberation/alpha/sums/0001.messages.parquet"
    jobscript.write_text(f"#!/bin/sh\n# properties = {json.dumps({'output': [output]})}\ntrue\n")
    clients["qsub"].will(("124.s", "", 0))
    assert submit(site_of(tmp_path, project_root), REQUEST, jobscript) == "124.s"
    note = Path("results/s/runs/deliberation/alpha/sums/0001.tries.json")
    note.parent.mkdir(parents=True)
    note.write_text('{"run": "", "journal_bytes": 7, "count": 6, "error": "no GPU here"}')
    with pytest.raises(SchedulerError, match=r"not tried again: 6 jobs.*no GPU here"):
        submit(site_of(tmp_path, project_root), REQUEST, jobscript)
    assert len(clients["qsub"].calls) == 1


def test_the_submit_command_knows_a_site_that_the_controller_prepared(
    tmp_path: Path, project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    site = checked_site(tmp_path, project_root, setup=["module load conda"])
    with pytest.raises(SchedulerError, match="has not prepared"):
        pbs.noted_site(site.file)
    assert pbs.prepare(site, tmp_path) == (site, [])
    assert not list(tmp_path.glob(".snakemake"))  # as after a dry run
    pbs.write_notes(site, tmp_path)
    assert pbs.noted_site(site.file) == PbsSite.of(site)


@pytest.mark.parametrize("name", ["with space", "it's", "a;b", "{x}", "$HOME"])
def test_a_folder_that_a_command_line_cannot_name_is_refused(
    tmp_path: Path, project_root: Path, name: str
) -> None:
    site = checked_site(tmp_path, project_root)
    with pytest.raises(ConfigError, match=r"^folder .* in a path"):
        pbs.prepare(site, tmp_path / name)
    elsewhere = site.model_copy(update={"file": f"/x/{name}/site.yaml"})
    with pytest.raises(ConfigError, match=r"^site file .* in a path"):
        pbs.prepare(elsewhere, tmp_path)


def test_submitting_imports_no_settings() -> None:
    heavy = "import dhd.schedulers.pbs_submit, sys; print({'pydantic', 'yaml'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True)
    assert found.stdout == "set()\n"
