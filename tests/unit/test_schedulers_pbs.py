"""What is said to PBS, and what is made of its answers."""

import errno
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dhd.errors import ConfigError, SchedulerError
from dhd.schedulers import pbs, pbs_state, pbs_submit
from dhd.schedulers.base import SchedulerJob
from dhd.schedulers.pbs import (
    PbsRequest,
    PbsSite,
    cancel,
    job_text,
    jobs_of_folder,
    qsub_command,
)
from dhd.schedulers.pbs_submit import submit, unique_name
from support.sites import site_of as checked_site


def site_of(*args: Any, **changes: Any) -> PbsSite:
    return PbsSite.of(checked_site(*args, **changes))


REQUEST = PbsRequest("dhd.deliberate_bundle.7", "preemptable", 4, 360)


class Client:
    """Stands for one of PBS's commands: answers in turn, the last one for ever."""

    def __init__(self, folder: Path, name: str) -> None:
        self.answers, self.asked = folder / f"{name}.answers", folder / f"{name}.asked"
        script = (
            f"#!{sys.executable} -IS\nimport json, os, sys\n"
            f"answers = json.load(open({str(self.answers)!r}))\n"
            f"open({str(self.asked)!r}, 'a').write(json.dumps(sys.argv[1:]) + chr(10))\n"
            "out, err, code = answers[0]\n"
            f"json.dump(answers[1:] or answers, open({str(self.answers)!r}, 'w'))\n"
            "sys.stdout.write(out); sys.stderr.write(err)\n"
            "os.kill(os.getpid(), -code) if code < 0 else sys.exit(code)\n"
        )
        path = folder / name
        path.write_text(script)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def will(self, *answers: tuple[str, str, int]) -> None:
        self.answers.write_text(json.dumps(answers))

    @property
    def calls(self) -> list[list[str]]:
        if not self.asked.exists():
            return []
        return [json.loads(line) for line in self.asked.read_text().splitlines()]


@pytest.fixture
def clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Client]:
    """Put stand-ins for PBS's commands first on the path, and work in an empty folder."""
    folder, work = tmp_path / "bin", tmp_path / "work"
    folder.mkdir()
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(pbs_submit.time, "sleep", lambda _: None)
    return {name: Client(folder, name) for name in ("qsub", "qstat", "qselect", "qdel")}


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


#: qsub broke off in the middle: nobody knows whether PBS has the job.
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


def qstat_answer(**states: tuple[str, int | None]) -> tuple[str, str, int]:
    """Return an answer of qstat about jobs ``j1`` and so on."""
    jobs = {
        f"{name[1:]}.server": {"job_state": state} | ({} if code is None else {"Exit_status": code})
        for name, (state, code) in states.items()
    }
    return (json.dumps({"Jobs": jobs} if jobs else {}), "", 0)


@pytest.fixture
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pbs_state, "_POLL_S", 0.0)


@pytest.mark.parametrize(
    ("state", "code", "expected"),
    [
        ("Q", None, "running"),
        ("H", None, "running"),
        ("R", None, "running"),
        ("E", 0, "running"),
        ("F", 0, "success"),
        ("F", 1, "failed"),
        ("F", -29, "failed"),
        ("F", 271, "failed"),
        ("F", None, "failed"),
        ("X", 0, "success"),
    ],
)
@pytest.mark.usefixtures("no_wait")
def test_states_of_jobs(
    clients: dict[str, Client], state: str, code: int | None, expected: str
) -> None:
    clients["qstat"].will(qstat_answer(j1=(state, code)))
    assert pbs_state.status("1.server") == expected


def test_many_questions_are_one_call_of_qstat(clients: dict[str, Client]) -> None:
    clients["qstat"].will(qstat_answer())
    for number in range(200):
        assert pbs_state.status(f"{number}.server") == "running"
    assert len(clients["qstat"].calls) == 1


@pytest.mark.usefixtures("no_wait")
def test_one_call_asks_for_all_unfinished_jobs(clients: dict[str, Client]) -> None:
    clients["qstat"].will(
        qstat_answer(j1=("R", None)), qstat_answer(j1=("F", 0), j2=("R", None)), qstat_answer()
    )
    assert pbs_state.status("1.server") == "running"
    assert pbs_state.status("2.server") == "running"
    assert pbs_state.status("1.server") == "success"
    asked = [[word for word in call if word.endswith(".server")] for call in clients["qstat"].calls]
    assert asked == [["1.server"], ["1.server", "2.server"], ["2.server"]]


@pytest.mark.usefixtures("no_wait")
@pytest.mark.parametrize("answer", [("", "qstat: cannot connect", 1), ("{torn", "", 0)])
def test_jobs_count_as_running_while_qstat_is_away(
    clients: dict[str, Client], answer: tuple[str, str, int]
) -> None:
    clients["qstat"].will(*[answer] * 20, qstat_answer(j1=("F", 0)))
    assert [pbs_state.status("1.server") for _ in range(21)] == ["running"] * 20 + ["success"]


@pytest.mark.usefixtures("no_wait")
def test_a_job_that_pbs_has_forgotten_fails_unless_it_left_its_marker(
    clients: dict[str, Client],
) -> None:
    clients["qstat"].will(("{}", "qstat: Unknown Job Id 1.server", 153))
    assert [pbs_state.status("1.server") for _ in range(4)] == ["running"] * 3 + ["failed"]
    assert pbs_state.status("1.server") == "running"
    pbs_state.done_marker("1.server").touch()
    assert pbs_state.status("1.server") == "success"


@pytest.mark.usefixtures("no_wait")
def test_a_pbs_without_history_is_asked_without_it(clients: dict[str, Client]) -> None:
    refused = ("", "qstat: PBS is not configured to maintain job history", 1)
    clients["qstat"].will(refused, ("{}", "qstat: Unknown Job Id 1.server", 153))
    assert [pbs_state.status("1.server") for _ in range(4)] == ["running"] * 3 + ["failed"]
    assert ["-x" in call for call in clients["qstat"].calls] == [True, *[False] * 4]


@pytest.mark.usefixtures("no_wait")
def test_a_hold_is_told_once(
    clients: dict[str, Client], capsys: pytest.CaptureFixture[str]
) -> None:
    job = {"job_state": "H", "Hold_Types": "s", "comment": "job held, too many failed attempts"}
    clients["qstat"].will((json.dumps({"Jobs": {"1.server": job}}), "", 0))
    assert [pbs_state.status("1.server") for _ in range(3)] == ["running"] * 3
    told = capsys.readouterr().err
    assert told.count("1.server is held (job held, too many failed attempts)") == 1


@pytest.mark.usefixtures("no_wait")
@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK])
def test_a_file_system_without_locks_is_no_hindrance(
    clients: dict[str, Client], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def flock(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(pbs_state.fcntl, "flock", flock)
    clients["qstat"].will(qstat_answer(j1=("F", 0)))
    assert pbs_state.status("1.server") == "success"


@pytest.mark.usefixtures("no_wait")
def test_a_marker_outlives_a_state_that_cannot_be_written(
    clients: dict[str, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    clients["qstat"].will(qstat_answer())
    assert pbs_state.status("1.server") == "running"
    pbs_state.done_marker("1.server").touch()
    with monkeypatch.context() as patch:
        patch.setattr(pbs_state, "_save", full)
        with pytest.raises(OSError, match="No space left"):
            pbs_state.status("1.server")
    assert pbs_state.status("1.server") == "success"
    assert not pbs_state.done_marker("1.server").exists()


@pytest.mark.usefixtures("no_wait")
@pytest.mark.parametrize("content", ['{"asked": 1', "[]", '{"jobs": []}', "null"])
def test_a_torn_state_file_starts_afresh(clients: dict[str, Client], content: str) -> None:
    clients["qstat"].will(
        qstat_answer(j1=("R", None)), ('{"Jobs": null}', "", 0), qstat_answer(j1=("F", 0))
    )
    assert pbs_state.status("1.server") == "running"
    Path(".snakemake/dhd-pbs/state.json").write_text(content)
    assert pbs_state.status("1.server") == "running"
    assert pbs_state.status("1.server") == "success"


@pytest.mark.parametrize("answer", ["[]", '{"Jobs": [1]}'])
def test_the_status_command_never_fails(clients: dict[str, Client], answer: str) -> None:
    def ask() -> tuple[int, str]:
        command = [sys.executable, "-m", "dhd.schedulers.pbs_state", "1.server"]
        ran = subprocess.run(command, capture_output=True, text=True)
        assert "status of 1.server" in ran.stderr
        return ran.returncode, ran.stdout

    clients["qstat"].will((answer, "", 0))
    assert ask() == (0, "running\n")
    shutil.rmtree(".snakemake")
    Path(".snakemake").write_text("a file where a folder should be")
    assert ask() == (0, "running\n")


def job(name: str, state: str, folder: Path | str) -> dict[str, Any]:
    return {"Job_Name": name, "job_state": state, "Variable_List": {"PBS_O_WORKDIR": str(folder)}}


def test_only_this_projects_jobs_of_this_folder_are_found(
    clients: dict[str, Client], tmp_path: Path
) -> None:
    work = tmp_path / "work"
    link = tmp_path / "link"
    link.symlink_to(work)
    jobs = {
        "1.s": job("dhd.judge_bundle.1", "Q", work),
        "2.s": job("dhd.judge_bundle.2", "R", link),
        "3.s": job("dhd.judge_bundle.3", "R", tmp_path),
        "4.s": job("other", "R", work),
        "5.s": job("dhd.judge_bundle.5", "F", work),
    }
    clients["qselect"].will(("\n".join(jobs), "", 0))
    clients["qstat"].will((json.dumps({"Jobs": jobs}), "", 0))
    assert jobs_of_folder(work) == [
        SchedulerJob("1.s", "dhd.judge_bundle.1", "queued"),
        SchedulerJob("2.s", "dhd.judge_bundle.2", "running"),
    ]


def test_orphans_are_not_overlooked_when_pbs_is_away(clients: dict[str, Client]) -> None:
    clients["qselect"].will(("", "qselect: cannot connect to server", 1))
    with pytest.raises(SchedulerError, match="cannot connect"):
        jobs_of_folder(Path.cwd())


@pytest.mark.parametrize(
    "answer",
    [
        ("", "qstat: cannot connect to server", 1),
        ("", "", 0),
        ("", "", 1),
        ('{"Jobs": null}', "qstat: Unknown Job Id 1.s", 153),
        (json.dumps({"Jobs": {"1.s": {}}}), "", 0),
        (json.dumps({"Jobs": {"1.s": {}, "2.s": {}}}), "qstat: End of File", 1),
    ],
)
def test_orphans_of_which_qstat_does_not_tell_are_not_overlooked(
    clients: dict[str, Client], answer: tuple[str, str, int]
) -> None:
    clients["qselect"].will(("1.s\n2.s\n", "", 0))
    clients["qstat"].will(answer)
    with pytest.raises(SchedulerError, match=r"^qstat: "):
        jobs_of_folder(Path.cwd())


def test_jobs_that_have_ended_since_they_were_listed_are_no_orphans(
    clients: dict[str, Client],
) -> None:
    clients["qselect"].will(("1.s\n2[].s\n", "", 0))
    gone = "qstat: 1.s Job has finished, use -x or -H\nqstat: Unknown Job Id 2[].s\n"
    clients["qstat"].will(("{}", gone, 35))
    assert jobs_of_folder(Path.cwd()) == []


def test_jobs_that_have_ended_meanwhile_are_cancelled_without_complaint(
    clients: dict[str, Client],
) -> None:
    clients["qdel"].will(("", "qdel: Job has finished 1.s\nqdel: Unknown Job Id 2.s", 35))
    cancel([SchedulerJob("1.s", "a", "queued"), SchedulerJob("2.s", "b", "queued")])
    clients["qdel"].will(("", "qdel: Unauthorized Request 1.s", 1))
    with pytest.raises(SchedulerError, match="Unauthorized"):
        cancel([SchedulerJob("1.s", "a", "queued")])


def test_a_login_node_without_pbs_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SchedulerError, match="qselect: no such command"):
        jobs_of_folder(tmp_path)


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
