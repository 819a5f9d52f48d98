"""Submitting to PBS Pro: waiting for a full queue, and never the same job twice.

A qsub that breaks off may have succeeded. So every submission has a name of its own, by which
the job is looked for before it is sent again.
"""

from __future__ import annotations

import json
import re
import secrets
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dhd.errors import SchedulerError
from dhd.schedulers.commands import ask
from dhd.schedulers.controller import controller_of, end_controller
from dhd.schedulers.pbs import LOGS, PbsRequest, PbsSite, job_text, own_jobs, qsub_command
from dhd.schedulers.pbs_state import FOLDER
from dhd.stages.tries import in_vain, tries_of

_JOB_ID = re.compile(r"^\d+\.[\w.-]+$", re.MULTILINE)
_BROKE_OFF = "qsub gave no job id"
_UNCLEAR = re.compile(
    r"no answer in|connection (reset|timed out)|communication failure|end of file"
    rf"|server is shutting down|{_BROKE_OFF}",
    re.IGNORECASE,
)
"""qsub broke off; PBS may have the job."""
_JOBS_FULL = re.compile(r"would exceed(?!.*\bresource\b)|maximum number of jobs", re.IGNORECASE)
"""Limits on the number of jobs: every job that ends makes room."""
_MAY_PASS = re.compile(
    r"cannot connect|connection refused|server (is )?busy|would exceed", re.IGNORECASE
)
"""No server, or limits on what queued jobs ask for together, for which one may be too large."""
_FIRST_WAIT_S, _LONGEST_WAIT_S = 2.0, 60.0
_PATIENCE_S = 3600.0
_PROPERTIES = re.compile(r"^# properties = (\{.*\})$", re.MULTILINE)
"""What Snakemake says of a job in its script."""
_REFUSED = FOLDER / "refused"
_MOST_REFUSED = 3


def submit(site: PbsSite, request: PbsRequest, jobscript: Path) -> str:
    """Submit a job script of Snakemake's; return the id of its job.

    Waits as long as the queue has its number of jobs or nobody can say whether the job was
    submitted, and up to an hour for a qsub that gives no id, and a server that is away or has
    too much queued. Says at least once a minute what it waits for.

    Raises
    ------
    SchedulerError
        When PBS refuses the job, with its reason.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    script = jobscript.read_text(encoding="utf-8")
    if (why := _in_vain(script)) is not None:
        raise SchedulerError(f"{request.name}: {why}")
    script = job_text(site, script)
    request = replace(request, name=unique_name(request.name))
    command = qsub_command(site, request)
    since, wait_s = time.monotonic(), _FIRST_WAIT_S
    complaint, job_id = _send(command, script)
    while job_id is None:
        if not _waits(complaint, time.monotonic() - since):
            _note_refusal()
            raise SchedulerError(f"{request.name}: not submitted: {complaint}")
        if _JOBS_FULL.search(complaint):
            since = time.monotonic()
        print(f"{request.name}: waits to be submitted: {complaint}", file=sys.stderr, flush=True)
        time.sleep(wait_s)
        wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
        if _UNCLEAR.search(complaint):
            try:
                job_id = _look_for(request.name)
            except SchedulerError:
                since = time.monotonic()
                continue  # asks again: the job is sent again only when PBS says that it has none
        if job_id is None:
            complaint, job_id = _send(command, script)
    _REFUSED.unlink(missing_ok=True)
    return job_id


def _in_vain(script: str) -> str | None:
    """Return why a job would end at once: the last ones of its bundle were in vain."""
    found = _PROPERTIES.search(script)
    outputs = [] if found is None else json.loads(found[1]).get("output", [])
    run = controller_of(Path.cwd())
    notes = (tries_of(Path(output)) for output in outputs)
    return next((why for note in notes if (why := in_vain(note, run=run)) is not None), None)


def _note_refusal() -> None:
    """Count refusals in a row; after some, have Snakemake end instead of trying on and on.

    Snakemake tries every job again as often as one may meet its walltime, and knows nothing of
    why it was refused: a wrong account would be told to PBS fifty times for every job.
    """
    run = controller_of(Path.cwd())
    known_run, _, known = (_REFUSED.read_text() if _REFUSED.exists() else "").rpartition(" ")
    count = int(known) + 1 if known_run == run and known.isdecimal() else 1
    _REFUSED.parent.mkdir(parents=True, exist_ok=True)
    _REFUSED.write_text(f"{run} {count}")
    if count >= _MOST_REFUSED and end_controller():
        _REFUSED.unlink()
        print(
            f"PBS refused {count} submissions in a row; no more are tried, and Snakemake ends when "
            "its running jobs have. Mend the cause, then run the same command again",
            file=sys.stderr,
            flush=True,
        )


def _waits(complaint: str, since_s: float) -> bool:
    """Return whether to go on after what qsub complained of."""
    if _JOBS_FULL.search(complaint):
        return True
    may_pass = _UNCLEAR.search(complaint) or _MAY_PASS.search(complaint)
    return may_pass is not None and since_s < _PATIENCE_S


def unique_name(name: str) -> str:
    """Return a name that PBS takes and that no other submission has."""
    harmless = re.sub(r"[^\w.+-]", "_", name, flags=re.ASCII)[:200]
    return f"{harmless}.{secrets.token_hex(4)}"


def _look_for(name: str) -> str | None:
    """Return the id of the job of this name; None when PBS has none."""
    found = own_jobs("-N", name)
    if not found:
        return None
    print(f"{name}: qsub broke off, but PBS has the job: {found[0]}", file=sys.stderr, flush=True)
    return found[0]


def _send(command: Sequence[str], script: str) -> tuple[str, str | None]:
    """Return what qsub complains of, or the job's id."""
    try:
        answer = ask(command, text=script)
    except SchedulerError as error:
        if "no such command" in str(error):
            raise
        return str(error), None
    found = _JOB_ID.search(answer.stdout)
    if answer.returncode == 0 and found is not None:
        return "", found[0]
    told = " ".join(f"{answer.stderr} {answer.stdout}".split())
    if answer.returncode <= 0:  # it says that all is well, or was killed
        return f"{_BROKE_OFF} (exit code {answer.returncode}) {told}".rstrip(), None
    return told or f"qsub gave no reason (exit code {answer.returncode})", None
