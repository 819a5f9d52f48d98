"""State of the stand-in: one JSON file a job in ``$FAKEPBS_DIR``, behind one lock."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from machines import MACHINES

FOLDER = Path(os.environ["FAKEPBS_DIR"])
MACHINE = MACHINES[os.environ.get("FAKEPBS_MACHINE", "polaris")]
#: Nodes of the whole machine.
NODES = int(os.environ.get("FAKEPBS_NODES", "12"))
#: Walltimes pass so many times faster.
SPEED = float(os.environ.get("FAKEPBS_SPEED", "1"))
#: Time between SIGTERM and SIGKILL, PBS's kill_delay.
KILL_DELAY_S = float(os.environ.get("FAKEPBS_KILL_DELAY", "2"))

#: What runs a job's script; benchmarks put something cheaper here.
RUNNER = shlex.split(os.environ.get("FAKEPBS_RUNNER", "bash -l"))

Job = dict[str, Any]


def fail(message: str, code: int) -> NoReturn:
    """End a client with a message and PBS's error code."""
    sys.stderr.write(f"{message}\n")
    raise SystemExit(code)


def log_call(tool: str, arguments: list[str]) -> None:
    """Note a client's call, so that tests can count them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "calls.jsonl").open("a") as log:
        log.write(json.dumps({"t": time.time(), "tool": tool, "args": arguments}) + "\n")


def check_outage(tool: str) -> None:
    """Fail as clients do while the server does not answer."""
    try:
        until = float((FOLDER / "outage").read_text())
    except (OSError, ValueError):
        return
    if time.time() < until:
        fail(
            f"Connection refused\n{tool}: cannot connect to server {MACHINE.server} (errno=111)", 1
        )


@contextmanager
def locked() -> Iterator[None]:
    """Hold the server's lock."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def job_file(number: int) -> Path:
    """Return where a job's state lies."""
    return FOLDER / f"{number}.json"


def load(number: int) -> Job:
    """Return a job."""
    return dict(json.loads(job_file(number).read_text()))


def save(number: int, job: Job) -> None:
    """Write a job."""
    temporary = FOLDER / f"{number}.{os.getpid()}.tmp"
    temporary.write_text(json.dumps(job))
    temporary.replace(job_file(number))


def all_jobs() -> dict[int, Job]:
    """Return all jobs by number."""
    return {int(path.stem): json.loads(path.read_text()) for path in FOLDER.glob("[0-9]*.json")}


def number_of(job_id: str, tool: str) -> int | None:
    """Return the number in a job id; None, with PBS's complaint, for one that is not known."""
    match = re.fullmatch(r"(\d+)(\.[\w.-]+)?", job_id)
    if match is None:
        fail(f"{tool}: illegally formed job identifier: {job_id}", 1)
    number = int(match[1])
    if not job_file(number).exists():
        sys.stderr.write(f"{tool}: Unknown Job Id {number}.{MACHINE.server}\n")
        return None
    return number


def gpus_of(job: Job) -> int:
    """Return how many of the machine's GPUs a job occupies."""
    if MACHINE.queues[job["queue"]].counts_gpus:
        return int(job["_size"])
    return int(job["_size"]) * MACHINE.gpus_per_node
