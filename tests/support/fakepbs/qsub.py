"""qsub: PBS Pro's syntax and the machine's rules, enforced."""

from __future__ import annotations

import getopt
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from server import FOLDER, MACHINE, Job, all_jobs, check_outage, fail, locked, save

#: A project that nobody may charge.
NOBODYS = "expired"
OPTIONS = "a:A:c:C:e:fhIj:J:k:l:m:M:N:o:p:P:q:r:R:S:u:v:VW:z"
_CHUNK = re.compile(r"(\d+)?((?::?[a-z]\w*=[\w-]+)(?::[a-z]\w*=[\w-]+)*)?")
_PLACE = re.compile(r"(free|pack|scatter|vscatter)?(:?(excl|shared|exclhost))?(:?group=\w+)?")


def qsub(arguments: list[str]) -> None:
    """Queue a job and print its id."""
    check_outage("qsub")
    try:
        options, rest = getopt.gnu_getopt(arguments, OPTIONS)
    except getopt.GetoptError as error:
        fail(f"qsub: {error}\nusage: qsub [-a date_time] [-A account_string] ...", 2)
    if len(rest) > 1 or (rest and not Path(rest[0]).exists()):
        fail("qsub: script file:: No such file or directory", 2)
    text = Path(rest[0]).read_text() if rest else sys.stdin.read()
    attributes, resources = _read([*_directives(text), *options])
    walltime = _checked(attributes, resources)
    size = _chunks(resources["select"])
    queue = attributes.get("-q", MACHINE.default_queue)
    if queue not in MACHINE.queues:
        fail("qsub: Unknown queue", 170)
    if not MACHINE.queues[queue].accepts(size, walltime):
        fail("qsub: Job violates queue and/or server resource limits", 188)
    with locked():
        number = _queue(queue, attributes, resources, size, walltime, text)
    mom = Path(__file__).with_name("mom.py")
    subprocess.Popen(
        [sys.executable, str(mom), str(number)],
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=(FOLDER / "mom.log").open("a"),
        cwd="/",
    )
    breaks_off = FOLDER / "break_off"
    if breaks_off.exists():
        breaks_off.unlink()
        fail("qsub: End of File", 1)
    print(f"{number}.{MACHINE.server}")


def _directives(text: str) -> list[tuple[str, str]]:
    """Return the options in #PBS lines, which end at the first line that is executed."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        if line.startswith("#PBS"):
            options, rest = getopt.gnu_getopt(shlex.split(line[4:]), OPTIONS)
            if rest:
                fail(f"qsub: directive error: {line[5:]} ", 2)
            found += options
        elif line.strip() and not line.startswith("#"):
            break
    return found


def _read(options: list[tuple[str, str]]) -> tuple[dict[str, str], dict[str, str]]:
    """Return attributes and resources; later options override earlier ones."""
    attributes: dict[str, str] = {}
    resources: dict[str, str] = {}
    for key, value in options:
        if key != "-l":
            attributes[key] = value
            continue
        for part in value.split(","):
            if "=" not in part:
                fail(f"qsub: Illegal attribute or resource value {part}", 1)
            name, _, content = part.partition("=")
            resources[name.strip()] = content
    return attributes, resources


def _checked(attributes: dict[str, str], resources: dict[str, str]) -> int:
    """Check what does not depend on the queue; return the walltime in seconds."""
    if "nodes" in resources and "select" in resources:
        fail('qsub: "-lresource=" cannot be used with "select" or "place", resource is: nodes', 1)
    unknown = set(resources) - {"select", "place", "walltime", "filesystems"}
    if unknown:
        fail(f"qsub: Unknown resource: {min(unknown)}", 1)
    if attributes.get("-A") == NOBODYS:
        fail("qsub: Invalid account for user", 1)
    if "-A" not in attributes:
        fail("qsub: Account_Name is required to be set.", 1)
    for name in ("filesystems", "walltime", "select"):
        if name not in resources:
            fail(f"qsub: Resource: {name} is required to be set.", 1)
    if set(resources["filesystems"].split(":")) - MACHINE.file_systems:
        fail("qsub: Illegal attribute or resource value for filesystems", 1)
    if not _PLACE.fullmatch(resources.get("place", "free")):
        fail("qsub: Illegal attribute or resource value Resource_List.place", 1)
    if attributes.get("-k", "doe") != "doe":
        fail("qsub: Keep_Files must be doe at ALCF", 1)
    if attributes.get("-r", "y") not in ("y", "n"):
        fail("qsub: illegal -r value", 2)
    if "-N" in attributes and not re.fullmatch(r"[A-Za-z_+.-][\w.+-]{0,229}", attributes["-N"]):
        fail("qsub: illegal -N value", 2)
    if "-W" in attributes and not re.fullmatch(r"umask=0?[0-7]{3}", attributes["-W"]):
        fail("qsub: illegal -W value", 2)
    return _seconds(resources["walltime"])


def _seconds(walltime: str) -> int:
    match = re.fullmatch(r"(?:(\d+):)?(\d+):(\d+)|(\d+)", walltime)
    if match is None:
        fail("qsub: Illegal attribute or resource value Resource_List.walltime", 1)
    if match[4]:
        return int(match[4])
    return int(match[1] or 0) * 3600 + int(match[2]) * 60 + int(match[3])


def _chunks(select: str) -> int:
    total = 0
    for chunk in select.split("+"):
        match = _CHUNK.fullmatch(chunk)
        if match is None or not chunk:
            fail("qsub: Illegal attribute or resource value Resource_List.select", 1)
        asked = dict(one.split("=") for one in (match[2] or "").strip(":").split(":") if one)
        if asked.get("system", MACHINE.system) != MACHINE.system:
            fail("qsub: Job violates resource limits: no such host in complex", 1)
        if int(asked.get("ngpus", 1)) > MACHINE.gpus_per_node:
            fail("qsub: Job violates resource limits: no such host in complex", 1)
        total += int(match[1] or 1)
    return total


def _queue(
    queue: str,
    attributes: dict[str, str],
    resources: dict[str, str],
    size: int,
    walltime: int,
    text: str,
) -> int:
    jobs, limit = all_jobs(), MACHINE.queues[queue].max_submitted
    submitted = sum(job["queue"] == queue and job["job_state"] in "QRH" for job in jobs.values())
    if limit is not None and submitted >= limit:
        fail(f"qsub: would exceed queue {queue}'s per-project limit of jobs in 'Q' state", 38)
    number = max(jobs, default=1000) + 1
    (FOLDER / f"{number}.SC").write_text(text)
    name = attributes.get("-N", "STDIN")
    job: Job = {
        "Job_Name": name,
        "Job_Owner": f"{os.environ.get('USER', 'root')}@login-01",
        "job_state": "Q",
        "queue": queue,
        "Account_Name": attributes["-A"],
        "Rerunable": "True" if attributes.get("-r", "y") == "y" else "False",
        "run_count": 0,
        "Join_Path": attributes.get("-j", "n"),
        "Output_Path": _output(attributes.get("-o"), f"{number}.{MACHINE.server}.OU", name, number),
        "Resource_List": {"nodect": size, **resources},
        "Variable_List": _variables(attributes, queue),
        "qtime": time.ctime(),
        "_size": size,
        "_wall": walltime,
    }
    save(number, job)
    return number


def _output(given: str | None, in_folder: str, name: str, number: int) -> str:
    path = Path.cwd() / (given or f"{name}.o{number}")
    return str(path / in_folder if path.is_dir() else path)


def _variables(attributes: dict[str, str], queue: str) -> dict[str, Any]:
    """Return what the job finds in its environment, which everyone can read."""
    origin = {"HOME": "", "LANG": "", "PATH": "", "SHELL": "", "LOGNAME": ""}
    told = {f"PBS_O_{name}": os.environ.get(name, default) for name, default in origin.items()}
    told |= {"PBS_O_WORKDIR": str(Path.cwd()), "PBS_O_QUEUE": queue}
    if "-V" in attributes:
        told |= dict(os.environ)
    for pair in filter(None, attributes.get("-v", "").split(",")):
        name, _, value = pair.partition("=")
        told[name] = value or os.environ.get(name, "")
    return told
