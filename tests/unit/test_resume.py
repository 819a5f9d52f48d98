"""What `dhd resume` finds out before it does anything."""

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from dhd.cli import main
from dhd.errors import ConfigError, SchedulerError
from dhd.schedulers import resume as module
from dhd.schedulers.base import SchedulerJob
from dhd.schedulers.controller import (
    controller_of,
    forget_controllers,
    hold_for_resume,
    note_controller,
    other_controller,
)
from dhd.schedulers.resume import end_orphans, profile_site

JOBS = [SchedulerJob("1.s", "dhd.a.1", "running"), SchedulerJob("2.s", "dhd.b.2", "queued")]


@pytest.mark.parametrize("name", ["polaris", "sophia"])
def test_the_profiles_name_their_sites(
    project_root: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(project_root)
    assert profile_site(name) == f"profiles/{name}/site.yaml"
    assert profile_site("profiles/local") is None
    with pytest.raises(ConfigError, match="run from the root of the project"):
        profile_site("nowhere")


def note(folder: Path, *, host: str, pid: int, locked: bool) -> None:
    state = folder / ".snakemake"
    (state / "locks").mkdir(parents=True, exist_ok=True)
    (state / "dhd-controllers").mkdir(exist_ok=True)
    text = f'{{"host": "{host}", "pid": {pid}}}'
    (state / "dhd-controllers" / f"{host}-{pid}.json").write_text(text)
    if locked:
        (state / "locks" / "0.input.lock").touch()


def test_nothing_is_known_of_a_fresh_folder(tmp_path: Path) -> None:
    assert other_controller(tmp_path) is None


def test_a_controller_that_has_ended_leaves_no_lock(tmp_path: Path) -> None:
    note(tmp_path, host="elsewhere", pid=1, locked=False)
    assert other_controller(tmp_path) is None


def test_a_lock_of_another_host_may_be_alive(tmp_path: Path) -> None:
    note(tmp_path, host="elsewhere", pid=77, locked=True)
    assert other_controller(tmp_path) == "process 77 on elsewhere"


def test_a_killed_controller_of_this_host_is_gone(tmp_path: Path) -> None:
    # This process lives, but is no Snakemake: the number was given to somebody else.
    note(tmp_path, host=socket.gethostname(), pid=os.getpid(), locked=True)
    assert other_controller(tmp_path) is None


def test_a_torn_note_is_no_controller(tmp_path: Path) -> None:
    note(tmp_path, host="elsewhere", pid=77, locked=True)
    (tmp_path / ".snakemake" / "dhd-controllers" / "elsewhere-77.json").write_text('{"host": ')
    assert other_controller(tmp_path) is None


def test_a_controller_notes_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    note_controller()
    assert str(os.getpid()) in controller_of(tmp_path)
    (tmp_path / ".snakemake" / "locks").mkdir()
    (tmp_path / ".snakemake" / "locks" / "0.input.lock").touch()
    assert other_controller(tmp_path) is None  # this process is no Snakemake
    forget_controllers(tmp_path)


def test_a_run_that_ended_does_not_hide_one_that_lives(tmp_path: Path) -> None:
    note(tmp_path, host="elsewhere", pid=77, locked=True)
    note(tmp_path, host=socket.gethostname(), pid=os.getpid(), locked=True)
    assert other_controller(tmp_path) == "process 77 on elsewhere"
    forget_controllers(tmp_path)
    assert other_controller(tmp_path) is None


class Cluster:
    """A scheduler whose jobs are gone after some cancellations."""

    def __init__(self, *, after: int) -> None:
        self.left, self.cancelled = after, []

    def jobs_of_folder(self, folder: Path) -> list[SchedulerJob]:
        return JOBS if len(self.cancelled) < self.left else []

    def cancel(self, jobs: Sequence[SchedulerJob]) -> None:
        self.cancelled.append([job.job_id for job in jobs])


def test_orphans_are_cancelled_until_they_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module.time, "sleep", lambda _: None)
    cluster = Cluster(after=3)
    assert end_orphans(cluster, tmp_path) == JOBS
    assert cluster.cancelled == [["1.s", "2.s"]] * 3
    assert (
        "cancelling 2 job(s) of this folder: 1.s (running), 2.s (queued)" in capsys.readouterr().out
    )


def test_orphans_that_outlive_their_cancellation_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.time, "sleep", lambda _: None)
    monkeypatch.setattr(module, "_CANCELLED_WITHIN_S", -1.0)
    with pytest.raises(SchedulerError, match="cancel them by hand"):
        end_orphans(Cluster(after=3), tmp_path)


def test_further_arguments_are_snakemakes(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(module, "resume", lambda *args, **kwargs: told.append((args, kwargs)))
    assert main(["resume", "--profile", "polaris", "--configfile", "x.yaml", "records"]) == 0
    assert told == [(("polaris", ["--configfile", "x.yaml", "records"]), {"is_gone": False})]


def test_other_commands_refuse_unknown_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["schema", "--unknown"])
    assert "unrecognized arguments: --unknown" in capsys.readouterr().err


def test_of_two_resumes_at_once_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = (
        "import subprocess, sys, time; from pathlib import Path\n"
        "from dhd.schedulers.controller import hold_for_resume\n"
        "hold_for_resume(Path('.')); print('held', flush=True)\n"
        "subprocess.Popen(['sleep', '5'], stdout=subprocess.DEVNULL)\n"
        "import os; os.execv('/bin/cat', ['cat'])\n"  # as it becomes Snakemake
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        assert first.stdin is not None
        assert first.stdout.readline() == b"held\n"
        with pytest.raises(ConfigError, match="another `dhd resume` has taken over here"):
            hold_for_resume(tmp_path)
        first.stdin.close()
    lock = hold_for_resume(tmp_path)  # what it started, and is still there, holds nothing
    os.close(lock)


@pytest.mark.parametrize(
    ("words", "alive"),
    [
        (["--profile", "polaris"], True),
        (["--profile", "polaris", "--dry-run"], False),
        (["--profile", "polaris", "--mode", "remote"], False),
    ],
)
def test_a_snakemake_that_has_noted_nothing_yet_is_seen_on_its_host(
    tmp_path: Path, words: list[str], alive: bool
) -> None:
    script = tmp_path / "snakemake"
    script.write_text("import sys; print('here', flush=True); sys.stdin.read()\n")
    command = [sys.executable, str(script), *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        expected = f"process {process.pid} on this host" if alive else None
        assert other_controller(tmp_path) == expected
        assert other_controller(tmp_path, trusts_notes=False) == expected
        assert other_controller(tmp_path / "..") is None
        process.communicate()


def test_a_submit_command_ends_the_snakemake_that_runs_it(tmp_path: Path) -> None:
    script = tmp_path / "snakemake"
    ends = "from dhd.schedulers.controller import end_controller; end_controller()"
    script.write_text(
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
        f"subprocess.run('{sys.executable} -c \"{ends}\"; true', shell=True)\n"
        "time.sleep(30)\n"
    )
    assert subprocess.run([sys.executable, str(script)]).returncode == 7
