"""States of jobs: what is made of PBS's answers."""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dhd.schedulers import pbs_state
from support.pbs_clients import Client, clients_on_path


@pytest.fixture
def clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Client]:
    return clients_on_path(tmp_path, monkeypatch)


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
