"""The execution side of the stand-in: one process a job waits for nodes, runs it, ends it.

usage: mom.py JOB_NUMBER
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from server import (
    FOLDER,
    KILL_DELAY_S,
    MACHINE,
    NODES,
    RUNNER,
    SPEED,
    all_jobs,
    gpus_of,
    load,
    locked,
    save,
)

_POLL_S = 0.1
_WALLTIME_CODE = -29


def main(number: int) -> None:
    """Run a job, and again where it is rerun."""
    while _start(number):
        code, why = _run(number)
        with locked():
            job = load(number)
            job["_want"] = None
            if why == "rerun" and job["Rerunable"] == "True":
                job["job_state"] = "Q"
                save(number, job)
                continue
            comments = {None: "Job run and finished", "walltime": "walltime exceeded limit"}
            job.update(
                job_state="F",
                Exit_status=_WALLTIME_CODE if why == "walltime" else code,
                mtime=time.ctime(),
                comment=comments.get(why, f"Job {why}"),
            )
            save(number, job)
        return


def _start(number: int) -> bool:
    """Wait for free GPUs; return False when the job is no longer queued."""
    while True:
        with locked():
            jobs = all_jobs()
            job = jobs[number]
            if job["job_state"] != "Q":
                return False
            running = [one for one in jobs.values() if one["job_state"] == "R"]
            limit = MACHINE.queues[job["queue"]].max_running
            in_queue = sum(one["queue"] == job["queue"] for one in running)
            free = NODES * MACHINE.gpus_per_node - sum(map(gpus_of, running))
            if free >= gpus_of(job) and (limit is None or in_queue < limit):
                job.update(job_state="R", stime=time.ctime(), run_count=job["run_count"] + 1)
                save(number, job)
                return True
        time.sleep(2 * _POLL_S)


def _environment(number: int) -> dict[str, str]:
    """Return a job's environment: nothing of the submitter's that was not asked for."""
    job = load(number)
    single = MACHINE.queues[job["queue"]].counts_gpus
    hosts = [f"x3001c0s{0 if single else i}b0n0" for i in range(job["_size"])]
    nodes = FOLDER / f"{number}.nodes"
    nodes.write_text("".join(f"{host}\n" for host in hosts))
    told = job["Variable_List"]
    environment = {
        **{name: value for name, value in told.items() if not name.startswith("PBS_O_")},
        **{name: value for name, value in told.items() if name.startswith("PBS_O_")},
        "HOME": told["PBS_O_HOME"],
        "USER": os.environ.get("USER", "root"),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "FAKEPBS_DIR": str(FOLDER),
        "PBS_JOBID": f"{number}.{MACHINE.server}",
        "PBS_JOBNAME": job["Job_Name"],
        "PBS_NODEFILE": str(nodes),
        "PBS_QUEUE": job["queue"],
        "PBS_ENVIRONMENT": "PBS_BATCH",
    }
    if single:
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, range(job["_size"])))
    return environment


def _run(number: int) -> tuple[int, str | None]:
    """Run the job's script; return its exit code, and why it was ended."""
    environment = _environment(number)
    job = load(number)
    with Path(job["Output_Path"]).open("ab") as output:
        process = subprocess.Popen(
            [*RUNNER, str(FOLDER / f"{number}.SC")],
            env=environment,
            cwd=environment["HOME"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    began, why, told_at = time.monotonic(), None, 0.0
    while process.poll() is None:
        time.sleep(_POLL_S)
        if why is None:
            is_over = time.monotonic() - began > job["_wall"] / SPEED
            why = load(number).get("_want") or ("walltime" if is_over else None)
            told_at = time.monotonic()
            if why is not None:
                _signal_session(process.pid, signal.SIGTERM)
        elif time.monotonic() - told_at > KILL_DELAY_S:
            _signal_session(process.pid, signal.SIGKILL)
    # When its top shell has ended, PBS kills what is left of a job.
    _signal_session(process.pid, signal.SIGKILL)
    code = process.returncode
    return (code if code >= 0 else 256 - code), why


def _signal_session(session: int, signal_number: int) -> None:
    """Send a signal to all processes of a session, as PBS does."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                os.kill(int(path.parent.name), signal_number)
        except (OSError, IndexError):
            continue


if __name__ == "__main__":
    main(int(sys.argv[1]))
