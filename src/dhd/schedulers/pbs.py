"""PBS Pro: what a job asks for, finding this project's jobs again, cancelling them.

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
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhd.errors import ConfigError, SchedulerError
from dhd.files import current_umask, replacing
from dhd.schedulers.base import SchedulerJob
from dhd.schedulers.commands import ask
from dhd.schedulers.pbs_state import FINISHED, FOLDER, done_marker, number_of

if TYPE_CHECKING:
    from dhd.sites.site import Site

NAME_PREFIX = "dhd."
LOGS = Path("logs", "pbs")

_UNSAFE = re.compile(r"[^\w@%+=:,./~-]")
_GONE = re.compile(r"unknown job id|has finished|invalid state", re.IGNORECASE)


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
    """Check paths that come on command lines; see `base.prepare`."""
    paths = {"folder": str(folder), "site file": site.file, "interpreter": sys.executable}
    for what, path in paths.items():
        if found := _UNSAFE.search(path):
            raise ConfigError(
                f"{what} {path!r}: Snakemake's and PBS's commands cannot take {found[0]!r} in a "
                "path; move it to one of letters, digits and @ % + = : , . / ~ _ -"
            )
    return site, []


def write_notes(site: Site, folder: Path) -> None:
    """Write down what the submit command needs of a site; see `base.write_notes`."""
    with replacing(folder / _site_note(site.file)) as path:
        path.write_text(json.dumps(asdict(PbsSite.of(site))), encoding="utf-8")


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
        Its name; says rule and number, nothing of a problem. `pbs_submit` makes it unique.
    select
        Nodes, or GPUs in a queue that gives single GPUs.
    """

    name: str
    queue: str
    select: int
    minutes: int


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
    return [
        *("qsub", "-A", site.account, "-q", request.queue, "-N", request.name),
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
    job_ids = own_jobs()
    return list(_ours(_details(job_ids), folder.resolve())) if job_ids else []


def own_jobs(*criteria: str) -> list[str]:
    """Return the ids of the user's jobs that are queued or running and meet qselect's criteria.

    Raises
    ------
    SchedulerError
        When PBS does not answer.
    """
    listed = ask(["qselect", "-u", getpass.getuser(), *criteria])
    if listed.returncode != 0:
        raise SchedulerError(f"qselect: {listed.stderr.strip() or 'failed'}")
    return listed.stdout.split()


def _details(job_ids: Sequence[str]) -> dict[str, Any]:
    """Return what PBS says of jobs; those that have ended meanwhile are missing."""
    answer = ask(["qstat", "-f", "-F", "json", *job_ids])
    try:
        found = json.loads(answer.stdout or "{}").get("Jobs") or {}
    except ValueError:
        raise SchedulerError(
            f"qstat: its answer is no JSON: {answer.stderr.strip() or answer.stdout[:200]!r}"
        ) from None
    lines = [line for line in answer.stderr.splitlines() if line.strip()]
    complaints = [line for line in lines if not _GONE.search(line)]
    if complaints:
        raise SchedulerError(f"qstat: {'; '.join(complaints)}")
    told = {number_of(job_id) for job_id in found}
    told.update(number for line in lines for number in re.findall(r"\d+(?:\[\d*\])?", line))
    silent = [job_id for job_id in job_ids if number_of(job_id) not in told]
    if silent:
        raise SchedulerError(
            f"qstat: exit code {answer.returncode} and nothing of {', '.join(silent[:5])}"
        )
    return dict(found)


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
