"""What became of submitted PBS jobs, with few calls of qstat however many jobs there are.

Snakemake asks for one job at a time. All jobs that were asked for are kept in a file, and one
qstat brings them up to date when the last one is old enough. qstat may fail for as long as it
likes: jobs then count as running. Only the standard library is imported here, as a fresh
process answers every question.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Literal

FINISHED = ("F", "X")

FOLDER = Path(".snakemake", "dhd-pbs")
_POLL_S = float(os.environ.get("DHD_PBS_POLL_S", "15"))
_TIMEOUT_S = 60
_MISSES = 4
"""Answers in a row in which PBS does not know a job before it counts as failed."""
_UNKNOWN = re.compile(r"Unknown Job Id:?\s*(\d+)")

Status = Literal["running", "success", "failed"]


def done_marker(job_id: str) -> Path:
    """Return the file that a job leaves when it has ended well."""
    return FOLDER / f"{_number(job_id)}.done"


def status(job_id: str) -> Status:
    """Return what became of a job, as far as is known."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = _load()
        job = state["jobs"].setdefault(job_id, {"state": "Q", "code": None, "misses": 0})
        if done_marker(job_id).exists():
            job.update(state="F", code=0)
            done_marker(job_id).unlink(missing_ok=True)
        elif time.time() - state["asked"] >= _POLL_S:
            _refresh(state)
        found = _verdict(job)
        if found != "running":
            del state["jobs"][job_id]
        _save(state)
    return found


def _verdict(job: dict[str, Any]) -> Status:
    if job["state"] in FINISHED:
        return "success" if job["code"] == 0 else "failed"
    return "failed" if job["misses"] >= _MISSES else "running"


def _load() -> dict[str, Any]:
    """Return the state; a fresh one where there is none or it was torn."""
    try:
        state = json.loads((FOLDER / "state.json").read_text())
    except (OSError, ValueError):
        state = {"asked": 0.0, "jobs": {}}
    return dict(state)


def _save(state: dict[str, Any]) -> None:
    temporary = FOLDER / "state.json.tmp"
    temporary.write_text(json.dumps(state))
    temporary.replace(FOLDER / "state.json")


def _refresh(state: dict[str, Any]) -> None:
    """Bring all unfinished jobs up to date with one call."""
    state["asked"] = time.time()
    jobs = {_number(job_id): job for job_id, job in state["jobs"].items()}
    ids = [job_id for job_id, job in state["jobs"].items() if job["state"] not in FINISHED]
    if not ids:
        return
    command = ["qstat", "-x", "-f", "-F", "json", *ids]
    try:
        answer = subprocess.run(  # noqa: S603 - our own command, no shell
            command, capture_output=True, text=True, timeout=_TIMEOUT_S
        )
        found = json.loads(answer.stdout or "{}").get("Jobs", {})
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        print(f"qstat: {error}; jobs count as running", file=sys.stderr)
        return
    for job_id, told in found.items():
        if (job := jobs.get(_number(job_id))) is not None:
            job.update(state=told.get("job_state", "Q"), code=told.get("Exit_status"), misses=0)
    for number in _UNKNOWN.findall(answer.stderr):
        if number in jobs and number not in map(_number, found):
            jobs[number]["misses"] += 1


def _number(job_id: str) -> str:
    return job_id.partition(".")[0]


def main() -> None:
    """Print the status of the job named on the command line; never fails."""
    try:
        print(status(sys.argv[1]))
    except OSError as error:
        # Snakemake gives up watching all jobs when this command fails.
        print("running")
        print(f"status of {sys.argv[1]}: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
