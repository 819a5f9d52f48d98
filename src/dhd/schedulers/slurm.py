"""Slurm: what a job asks for, its set-up, finding this project's jobs again, cancelling them.

Jobs are submitted by Snakemake's own Slurm plugin, which takes what a job asks for from its
rule's resources, names all jobs of a run alike, and lets them start with a command of the
profile (``precommand``): that sources the file which `write_setup` makes.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import TypeAdapter

from dhd.errors import ConfigError, SchedulerError
from dhd.files import replacing
from dhd.schedulers.base import SchedulerJob
from dhd.schedulers.commands import ask
from dhd.schedulers.partitions import cancels_preempted, machine, partitions
from dhd.sites.prologue import prologue, umask_line
from dhd.sites.queues import Machine
from dhd.sites.site import Site

NAME_PREFIX = "dhd_"
"""Of job names; the profile sets it as ``slurm-jobname-prefix``."""
SETUP = Path(".snakemake", "dhd-setup.sh")
"""What jobs source at their start; the profile's ``precommand`` names it."""
MACHINE = Path(".snakemake", "dhd-slurm.json")
"""What Slurm said of its partitions when the run started; sizes of jobs depend on it."""

_TOLD: TypeAdapter[Machine | None] = TypeAdapter(Machine | None)
_SET_BY_SITE = {
    "account": ("--account", "-A"),
    "queue": ("--partition", "-p"),
    "nodes": ("--nodes", "-N"),
    "walltime": ("--time", "-t"),
    "gres": ("--gres", "--gpus", "-G", "--gpus-per-node"),
    "cpus": ("--cpus-per-task", "-c", "--cpus-per-gpu"),
    "memory_gb": ("--mem", "--mem-per-cpu", "--mem-per-gpu"),
}
_SET_BY_PLUGIN = {
    *("--job-name", "-J", "--output", "-o", "--error", "-e", "--export", "--comment"),
    *("--chdir", "-D", "--ntasks", "-n", "--ntasks-per-node", "--array", "-a", "--wrap"),
    *("--requeue", "--no-requeue", "--clusters", "-M"),
}
_QUEUED = frozenset({"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT"})
_GONE = re.compile(r"invalid job id|already completing or completed", re.IGNORECASE)
_AT_A_TIME = 200
"""Jobs named on one command line."""


def job_resources(
    site: Site, *, nodes: int, minutes: int, engines: bool
) -> dict[str, int | str | None]:
    """Return the resources by which the plugin submits a job.

    Parameters
    ----------
    nodes
        Nodes of the job.
    minutes
        Its time limit.
    engines
        Whether it runs engines, which need GPUs.

    Returns
    -------
    dict
        The same keys for every job; None leaves a matter to the cluster's defaults.
    """
    qos, constraint, options = split_options(site.options)
    gpus = site.gres or f"gpu:{site.gpus_of_node}"
    return {
        "slurm_account": site.account,
        "slurm_partition": site.queue if engines else site.cpu_queue,
        "runtime": minutes,
        "nodes": nodes,
        "gres": gpus if engines else "",
        # -1: no such option at all; leaving it out would mean one CPU.
        "cpus_per_task": site.cpus if engines and site.cpus is not None else -1,
        # 0: no such option. Without it Snakemake would ask for a gigabyte.
        "mem_mb": 1024 * (site.memory_gb or 0) if engines else 0,
        "qos": qos,
        "constraint": constraint,
        "slurm_extra": options or None,
    }


def split_options(options: str) -> tuple[str | None, str | None, str]:
    """Return quality of service, node features, and the remaining options of sbatch.

    The plugin has resources of their own for the first two and refuses them among the rest.

    Raises
    ------
    ConfigError
        When an option is set by another key of the site file, or by the plugin.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--qos", "-q")
    parser.add_argument("--constraint", "-C")
    try:
        known, rest = parser.parse_known_args(shlex.split(options))
    except (argparse.ArgumentError, ValueError) as error:
        raise ConfigError(f"options = {options!r}: {error}") from None
    faults = list(_option_faults(rest))
    if faults:
        raise ConfigError(f"options = {options!r}: {'; '.join(faults)}")
    return known.qos, known.constraint, shlex.join(rest)


def _option_faults(words: Sequence[str]) -> Iterator[str]:
    by_option = {option: key for key, options in _SET_BY_SITE.items() for option in options}
    before = ""
    for word in words:
        option = word.partition("=")[0] if word.startswith("--") else word[:2]
        if not word.startswith("-") and (not before.startswith("-") or "=" in before):
            yield f"{word!r} is no option; sbatch would take it for the job's script"
        before = word
        if option in by_option:
            yield f"{option} is what {by_option[option]!r} says; remove it here"
        elif option in _SET_BY_PLUGIN:
            yield f"{option} is set for every job; remove it here"


def prepare(site: Site) -> tuple[Site, list[str]]:
    """Check the options and ask Slurm for its partitions' limits; see `base.prepare`."""
    try:
        split_options(site.options)
    except ConfigError as error:
        raise ConfigError(f"{site.file}: {error}") from None
    found = partitions()
    warnings = [
        f"partition {queue!r} cancels preempted jobs, and Snakemake waits for them in vain: when "
        "that happens, stop it and run `dhd resume`"
        for queue in dict.fromkeys((site.queue, site.cpu_queue))
        if cancels_preempted(found, queue)
    ]
    if site.machine is not None:
        return site, warnings
    told = machine(found)
    if told is None:
        warnings.append(
            "Slurm did not say what its partitions take (`scontrol show partition`): nodes and "
            "walltimes were not checked against their limits"
        )
    for key, queue in {"queue": site.queue, "cpu.queue": site.cpu_queue}.items():
        if told is not None and queue not in told.queues:
            raise ConfigError(
                f"{site.file}: {key} = {queue!r}: this cluster has the partitions "
                f"{', '.join(told.queues)}"
            )
    return site.model_copy(update={"machine": told}), warnings


def write_notes(site: Site, folder: Path) -> None:
    """Write the jobs' set-up and what is known of the partitions; see `base.write_notes`."""
    write_setup(site, folder)
    with replacing(folder / MACHINE) as temporary:
        temporary.write_bytes(_TOLD.dump_json(site.machine))


def noted(site: Site, folder: Path) -> Site:
    """Return a site with what Slurm said of its partitions; see `base.noted`."""
    try:
        told = _TOLD.validate_json((folder / MACHINE).read_bytes())
    except (OSError, ValueError) as error:
        raise SchedulerError(f"{folder}: no run of Snakemake has begun here ({error})") from None
    return site.model_copy(update={"machine": told})


def write_setup(site: Site, folder: Path) -> None:
    """Write what jobs source at their start, from the site's ``setup`` and ``environment``.

    The plugin's scripts run in ``sh``, while modules and conda want ``bash``: so bash runs the
    lines and hands over the variables that it has afterwards, and they alone. What the lines
    print goes to the job's log.
    """
    lines = f"exec 3>&1 1>&2\n{prologue(site)}\nset -o posix\nexport -p >&3\n"
    text = f'{umask_line()}\neval "$(bash -c {shlex.quote(lines)})"\n'
    with replacing(folder / SETUP) as temporary:
        temporary.write_text(text, encoding="utf-8")


def jobs_of_folder(folder: Path) -> list[SchedulerJob]:
    """Return the jobs that this project has submitted from a folder; see `Scheduler`."""
    answer = ask(["squeue", "--me", "--noheader", "--format=%i|%T|%j|%Z"])
    if answer.returncode != 0:
        raise SchedulerError(f"squeue: {answer.stderr.strip() or 'failed'}")
    return list(_ours(answer.stdout.splitlines(), folder.resolve()))


def _ours(lines: Sequence[str], folder: Path) -> Iterator[SchedulerJob]:
    for line in lines:
        fields = line.split("|", maxsplit=3)
        if len(fields) < 4:  # a foreign job's name may hold a line break; ours do not
            continue
        job_id, state, name, workdir = fields
        if name.startswith(NAME_PREFIX) and Path(workdir).resolve() == folder:
            yield SchedulerJob(job_id, name, "queued" if state in _QUEUED else "running")


def cancel(jobs: Sequence[SchedulerJob]) -> None:
    """Ask for the end of these jobs; see `Scheduler`."""
    for start in range(0, len(jobs), _AT_A_TIME):
        some = jobs[start : start + _AT_A_TIME]
        answer = ask(["scancel", *(job.job_id for job in some)])
        complaints = [
            line for line in answer.stderr.splitlines() if line.strip() and not _GONE.search(line)
        ]
        if complaints:
            raise SchedulerError(f"scancel: {'; '.join(complaints)}")
