"""PBS Pro: submitting a job, finding this project's jobs again, cancelling them.

A fresh process submits every job, so that settings and their checks are not imported here: the
controller writes down once what the submit command needs of the site.
"""

from __future__ import annotations

import getpass
import hashlib
import json
import re
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhd.errors import SchedulerError
from dhd.files import current_umask, replacing
from dhd.schedulers.base import SchedulerJob
from dhd.schedulers.commands import ask
from dhd.schedulers.pbs_state import FINISHED, FOLDER, done_marker

if TYPE_CHECKING:
    from dhd.sites.site import Site

NAME_PREFIX = "dhd."
LOGS = Path("logs", "pbs")

_JOB_ID = re.compile(r"^\d+\.[\w.-]+$", re.MULTILINE)
_QUEUE_FULL = re.compile(r"would exceed|maximum number of jobs", re.IGNORECASE)
_UNREACHABLE = re.compile(
    r"cannot connect|connection (refused|reset|timed out)|communication failure|end of file"
    r"|server (is )?(busy|shutting down)|no answer in",
    re.IGNORECASE,
)
_GONE = re.compile(r"unknown job id|has finished|invalid state", re.IGNORECASE)
_FIRST_WAIT_S, _LONGEST_WAIT_S = 2.0, 60.0
_PATIENCE_S = 3600.0


@dataclass(frozen=True, slots=True)
class PbsSite:
    """What all jobs of a site tell PBS, and the lines with which they start."""

    account: str
    resources: dict[str, str]
    chunk: str
    prologue: str

    @classmethod
    def of(cls, site: Site) -> PbsSite:
        """Return it for a site."""
        from dhd.sites.prologue import prologue

        resources = {} if site.gpus is not None else {"place": "scatter"}
        if site.filesystems is not None:
            resources["filesystems"] = site.filesystems
        chunk = "" if site.machine is None else site.machine.select
        return cls(str(site.account), resources, chunk, prologue(site))


def prepare(site: Site, folder: Path) -> tuple[Site, list[str]]:
    """Write down what the submit command needs of a site; see `base.prepare`."""
    with replacing(folder / _site_note(site.file)) as path:
        path.write_text(json.dumps(asdict(PbsSite.of(site))), encoding="utf-8")
    return site, []


def noted_site(file: str) -> PbsSite:
    """Return what was written down of a site file.

    Raises
    ------
    SchedulerError
        When no controller has prepared this folder for the site.
    """
    try:
        return PbsSite(**json.loads(_site_note(file).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise SchedulerError(
            f"{file}: Snakemake has not prepared {Path.cwd()} for it ({error})"
        ) from None


def _site_note(file: str) -> Path:
    """Return where it is written down: profiles of several sites may share a folder."""
    return FOLDER / f"site-{hashlib.sha256(file.encode()).hexdigest()[:12]}.json"


@dataclass(frozen=True, slots=True)
class PbsRequest:
    """What one job asks for.

    Attributes
    ----------
    name
        Its name; says rule and number, nothing of a problem.
    select
        Nodes, or GPUs in a queue that gives single GPUs.
    """

    name: str
    queue: str
    select: int
    minutes: int


def submit(site: PbsSite, request: PbsRequest, jobscript: Path) -> str:
    """Submit a job script of Snakemake's; return the id of its job.

    Waits as long as the queue is full, and up to an hour for a server that does not answer.

    Raises
    ------
    SchedulerError
        When PBS refuses the job, with its reason.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    script = job_text(site, jobscript.read_text(encoding="utf-8"))
    command = qsub_command(site, request)
    refused_since, wait_s = time.monotonic(), _FIRST_WAIT_S
    while True:
        complaint, job_id = _try_to_submit(command, script)
        if job_id is not None:
            return job_id
        if not _QUEUE_FULL.search(complaint):
            is_patient = time.monotonic() - refused_since < _PATIENCE_S
            if not (_UNREACHABLE.search(complaint) and is_patient):
                raise SchedulerError(f"{request.name}: not submitted: {complaint}")
        print(f"{request.name}: waits to be submitted: {complaint}", file=sys.stderr, flush=True)
        time.sleep(wait_s)
        wait_s = min(2 * wait_s, _LONGEST_WAIT_S)


def _try_to_submit(command: Sequence[str], script: str) -> tuple[str, str | None]:
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
    return " ".join(f"{answer.stderr} {answer.stdout}".split()) or "qsub gave no reason", None


def qsub_command(site: PbsSite, request: PbsRequest) -> list[str]:
    """Return the qsub command of a job; its script comes on standard input.

    The environment of the controller is not passed on (no ``-V``): everyone can read a job's
    variables, and there may be keys among them.
    """
    resources = {
        "select": f"{request.select}:{site.chunk}" if site.chunk else str(request.select),
        "walltime": f"{request.minutes // 60:02d}:{request.minutes % 60:02d}:00",
        **site.resources,
    }
    name = re.sub(r"[^\w.+-]", "_", request.name)[:200]
    return [
        *("qsub", "-A", site.account, "-q", request.queue, "-N", name),
        *("-r", "y", "-j", "oe", "-k", "doe", "-o", f"{LOGS}/"),
        *("-W", f"umask={current_umask():03o}"),
        *(word for key, value in resources.items() for word in ("-l", f"{key}={value}")),
    ]


def job_text(site: PbsSite, jobscript: str) -> str:
    """Return the script that PBS runs: the site's set-up, then Snakemake's script.

    A marker is left where the script ends well, so that its success is known even when PBS has
    forgotten the job. The shell survives SIGTERM, which PBS sends to all processes of a job:
    were the shell to die at once, PBS would kill the rest while it drains.
    """
    marker = shlex.quote(str(done_marker("PBS_JOB").parent.resolve()))
    body = jobscript.removeprefix("#!/bin/sh\n")
    return "\n".join(
        [
            "#!/bin/bash -l",
            f"marker={marker}/${{PBS_JOBID%%.*}}.done",
            'mkdir -p "${marker%/*}" && rm -f "$marker"',
            "trap : TERM",
            """trap 'code=$?; if [ "$code" = 0 ]; then touch "$marker"; fi' EXIT""",
            site.prologue,
            body,
        ]
    )


def jobs_of_folder(folder: Path) -> list[SchedulerJob]:
    """Return the jobs that this project has submitted from a folder; see `Scheduler`."""
    listed = ask(["qselect", "-u", getpass.getuser()])
    if listed.returncode != 0:
        raise SchedulerError(f"qselect: {listed.stderr.strip() or 'failed'}")
    job_ids = listed.stdout.split()
    if not job_ids:
        return []
    details = ask(["qstat", "-f", "-F", "json", *job_ids])
    try:
        found = json.loads(details.stdout or "{}").get("Jobs", {})
    except ValueError:
        raise SchedulerError(
            f"qstat: its answer is no JSON: {details.stderr.strip() or details.stdout[:200]!r}"
        ) from None
    return list(_ours(found, folder.resolve()))


def _ours(found: dict[str, Any], folder: Path) -> Iterator[SchedulerJob]:
    for job_id, job in found.items():
        name, variables = str(job.get("Job_Name", "")), job.get("Variable_List") or {}
        if not name.startswith(NAME_PREFIX) or job.get("job_state") in FINISHED:
            continue
        if Path(str(variables.get("PBS_O_WORKDIR", "/"))).resolve() == folder:
            state = "queued" if job.get("job_state") in ("Q", "H", "W") else "running"
            yield SchedulerJob(job_id, name, "queued" if state == "queued" else "running")


def cancel(jobs: Sequence[SchedulerJob]) -> None:
    """Ask for the end of these jobs; see `Scheduler`."""
    if not jobs:
        return
    answer = ask(["qdel", *(job.job_id for job in jobs)])
    complaints = [line for line in answer.stderr.splitlines() if line and not _GONE.search(line)]
    if complaints:
        raise SchedulerError(f"qdel: {'; '.join(complaints)}")
