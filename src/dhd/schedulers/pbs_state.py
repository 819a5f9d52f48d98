"""What became of submitted PBS jobs, with few calls of qstat however many jobs there are.

Snakemake asks for one job at a time. All jobs that were asked for are kept in a file, and one
qstat brings them up to date when the last one is old enough. qstat may fail for as long as it
likes: jobs then count as running. Nothing large is imported here, as a fresh process
answers every question.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from dhd.files import NO_FLOCK

FINISHED = ("F", "X")

FOLDER = Path(".snakemake", "dhd-pbs")
_POLL_S = float(os.environ.get("DHD_PBS_POLL_S", "15"))
_TIMEOUT_S = 60
_MISSES = 4
"""Answers in a row in which PBS does not know a job before it counts as failed."""
_UNKNOWN = re.compile(r"Unknown Job Id:?\s*(\d+)")
_NO_HISTORY = re.compile(r"not configured to maintain job history", re.IGNORECASE)

Status = Literal["running", "success", "failed"]


def done_marker(job_id: str) -> Path:
    """Return the file that a job leaves when it has ended well."""
    return FOLDER / f"{number_of(job_id)}.done"


def status(job_id: str) -> Status:
    """Return what became of a job, as far as is known."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError as error:  # Snakemake asks for one job after the other anyway
            if error.errno not in NO_FLOCK:
                raise
        return _status(job_id)


def _status(job_id: str) -> Status:
    state = _load()
    job = state["jobs"].setdefault(job_id, {"state": "Q", "code": None, "misses": 0})
    is_marked = done_marker(job_id).exists()
    if is_marked:
        job.update(state="F", code=0)
    elif time.time() - state["asked"] >= _POLL_S:
        _refresh(state)
    found = _verdict(job)
    if found != "running":
        del state["jobs"][job_id]
    _save(state)
    if is_marked:
        done_marker(job_id).unlink(missing_ok=True)
    return found


def _verdict(job: dict[str, Any]) -> Status:
    if job["state"] in FINISHED:
        return "success" if job["code"] == 0 else "failed"
    return "failed" if job["misses"] >= _MISSES else "running"


def _load() -> dict[str, Any]:
    """Return the state; a fresh one where there is none or it was torn."""
    try:
        state = json.loads((FOLDER / "state.json").read_text())
        return {
            "asked": float(state["asked"]),
            "has_history": bool(state["has_history"]),
            "jobs": dict(state["jobs"]),
        }
    except (OSError, ValueError, TypeError, KeyError):
        return {"asked": 0.0, "has_history": True, "jobs": {}}


def _save(state: dict[str, Any]) -> None:
    temporary = FOLDER / "state.json.tmp"
    temporary.write_text(json.dumps(state))
    temporary.replace(FOLDER / "state.json")


def _refresh(state: dict[str, Any]) -> None:
    """Bring all unfinished jobs up to date with one call."""
    state["asked"] = time.time()
    jobs = {number_of(job_id): job for job_id, job in state["jobs"].items()}
    ids = [job_id for job_id, job in state["jobs"].items() if job["state"] not in FINISHED]
    if not ids:
        return
    try:
        answer = _qstat(ids, with_history=state["has_history"])
        if state["has_history"] and _NO_HISTORY.search(answer.stderr):
            state["has_history"] = False
            answer = _qstat(ids, with_history=False)
        found = json.loads(answer.stdout or "{}").get("Jobs") or {}
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        print(f"qstat: {error}; jobs count as running", file=sys.stderr)
        return
    for job_id, told in found.items():
        if (job := jobs.get(number_of(job_id))) is not None:
            _warn_of_hold(job_id, job, told)
            job.update(state=told.get("job_state", "Q"), code=told.get("Exit_status"), misses=0)
    for number in _UNKNOWN.findall(answer.stderr):
        if number in jobs and number not in map(number_of, found):
            jobs[number]["misses"] += 1


def _qstat(ids: Sequence[str], *, with_history: bool) -> subprocess.CompletedProcess[str]:
    """Ask for jobs, those that have ended included where PBS keeps them."""
    command = ["qstat", *(["-x"] if with_history else []), "-f", "-F", "json", *ids]
    return subprocess.run(  # noqa: S603 - our own command, no shell
        command, capture_output=True, text=True, timeout=_TIMEOUT_S
    )


def _warn_of_hold(job_id: str, job: dict[str, Any], told: dict[str, Any]) -> None:
    """Say once that a job waits for somebody to release it: PBS never does that by itself."""
    if told.get("job_state") == "H" and job["state"] != "H":
        why = told.get("comment") or f"Hold_Types = {told.get('Hold_Types', 'unknown')}"
        print(
            f"{job_id} is held ({why}): `qrls {job_id}` releases it, `qdel {job_id}` has it "
            "submitted again",
            file=sys.stderr,
        )


def number_of(job_id: str) -> str:
    """Return a job's id without its server."""
    return job_id.partition(".")[0]


def main() -> None:
    """Print the status of the job named on the command line; never fails."""
    try:
        print(status(sys.argv[1]))
    except Exception as error:
        # Snakemake gives up watching all jobs when this command fails, whatever the reason.
        print("running")
        print(f"status of {sys.argv[1]}: {error!r}; it counts as running", file=sys.stderr)


if __name__ == "__main__":
    main()
