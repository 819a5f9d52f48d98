#!/usr/bin/env python3
"""A stand-in for PBS Pro that really runs jobs: qsub, qstat, qselect, qdel, qrerun, mpiexec.

It enforces PBS Pro's syntax and the queue rules of a machine (``$FAKEPBS_MACHINE``, polaris or
sophia); its state lies in ``$FAKEPBS_DIR``. See ``server.py`` for the other variables. A file
``outage`` there, with a time in epoch seconds, makes all clients fail until then; a file
``break_off`` lets the next qsub break off although its job is queued.
"""

from __future__ import annotations

import atexit
import getopt
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from qsub import qsub
from server import (
    FOLDER,
    MACHINE,
    all_jobs,
    check_outage,
    fail,
    load,
    locked,
    log_call,
    number_of,
    save,
)


def qstat(arguments: list[str]) -> int:
    """Print the state of jobs; as JSON or as PBS's table."""
    check_outage("qstat")
    options, job_ids = getopt.gnu_getopt(arguments, "xfF:")
    flags, code = dict(options), 0
    asked = [number_of(job_id, "qstat") for job_id in job_ids] if job_ids else sorted(all_jobs())
    if None in asked:
        code = 153
    shown: dict[str, Any] = {}
    for number in [one for one in asked if one is not None]:
        job = load(number)
        if job["job_state"] == "F" and "-x" not in flags:
            if job_ids:
                sys.stderr.write(
                    f"qstat: {number}.{MACHINE.server} Job has finished, use -x or -H\n"
                )
                code = 35
            continue
        public = {name: value for name, value in job.items() if not name.startswith("_")}
        shown[f"{number}.{MACHINE.server}"] = public
    if flags.get("-F") == "json":
        document = {"timestamp": int(time.time()), "pbs_server": MACHINE.server}
        print(json.dumps(document | ({"Jobs": shown} if shown else {}), indent=4))
    else:
        for job_id, job in shown.items():
            print(f"{job_id[:24]:24} {job['Job_Name'][:16]:16} {job['job_state']} {job['queue']}")
    return code


def qselect(arguments: list[str]) -> int:
    """Print the ids of jobs that are queued or running."""
    check_outage("qselect")
    criteria = dict(getopt.gnu_getopt(arguments, "u:N:")[0])
    for number, job in sorted(all_jobs().items()):
        if job["job_state"] != "F" and criteria.get("-N", job["Job_Name"]) == job["Job_Name"]:
            print(f"{number}.{MACHINE.server}")
    return 0


def ask_mom(arguments: list[str], tool: str, want: str) -> int:
    """Have jobs deleted or rerun."""
    check_outage(tool)
    _, job_ids = getopt.gnu_getopt(arguments, "xW:")
    code = 0
    for job_id in job_ids:
        number = number_of(job_id, tool)
        if number is None:
            code = 153
            continue
        with locked():
            job = load(number)
            if job["job_state"] == "F":
                sys.stderr.write(f"{tool}: Job has finished {number}.{MACHINE.server}\n")
                code = 35
            elif job["job_state"] == "Q" and want == "deleted":
                save(number, job | {"job_state": "F", "comment": "Job deleted"})
            else:
                save(number, job | {"_want": want})
    return code


def mpiexec(arguments: list[str]) -> int:
    """Start the ranks of a job on this machine; return the highest exit code."""
    takes_value = {"-n", "--np", "--ppn", "-ppn", "--depth", "-d", "--cpu-bind", "--npernode"}
    takes_value |= {"--bind-to", "--hostfile"}
    ranks, rest = 1, list(arguments)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in takes_value:
            value = rest.pop(0)
            ranks = int(value) if option in ("-n", "--np") else ranks
    hosts = len(Path(os.environ["PBS_NODEFILE"]).read_text().split())
    if ranks > hosts:
        fail(f"mpiexec: {ranks} ranks, one a node, on {hosts} node(s)", 1)
    started = [
        subprocess.Popen(rest, env=os.environ | {"PALS_RANKID": str(rank)}) for rank in range(ranks)
    ]
    return max(abs(process.wait()) for process in started)


def main() -> int:
    """Be the client by whose name this file was called."""
    tool, arguments = Path(sys.argv[0]).name, sys.argv[1:]
    log_call(tool, arguments)
    if tool == "mpiexec":
        return mpiexec(arguments)
    if tool == "qsub":
        qsub(arguments)
        return 0
    if tool == "qstat":
        return qstat(arguments)
    if tool == "qselect":
        return qselect(arguments)
    if tool == "qdel":
        return ask_mom(arguments, tool, "deleted")
    if tool == "qrerun":  # stands for a preemption
        return ask_mom(arguments, tool, "rerun")
    if tool == "qexpire":  # none of PBS's: ends a job's walltime however fast this machine is
        return ask_mom(arguments, tool, "walltime")
    return fail("call me as qsub, qstat, qselect, qdel, qrerun, qexpire or mpiexec", 2)


def note_cpu_time() -> None:
    """Add up what the clients cost, so that a benchmark of the controller can leave it out."""
    with (FOLDER / "cpu_s").open("a") as log:
        log.write(f"{time.process_time():.4f}\n")


if __name__ == "__main__":
    atexit.register(note_cpu_time)
    sys.exit(main())
