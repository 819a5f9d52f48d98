"""Jobs that a lost controller left behind in PBS: found and cancelled."""

import json
from pathlib import Path
from typing import Any

import pytest

from dhd.errors import SchedulerError
from dhd.schedulers.base import SchedulerJob
from dhd.schedulers.pbs import (
    cancel,
    jobs_of_folder,
)
from support.pbs_clients import Client, clients_on_path


@pytest.fixture
def clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Client]:
    return clients_on_path(tmp_path, monkeypatch)


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
