"""Reading a site file and the queue rules beside it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from dhd.config.reading import faults_text, read_settings
from dhd.errors import ConfigError
from dhd.sites.queues import Machine
from dhd.sites.site import Site, SiteFile

QUEUES_FILE = "queues.yaml"


def read_site(file: str | Path, root: Path) -> Site:
    """Check a site file and the rules of its machine.

    Parameters
    ----------
    file
        The site file; one that is not found in the working directory is looked for below
        ``root``.

    Raises
    ------
    ConfigError
        All faults in one message: file, key, value and what would be right.
    """
    path = Path(file)
    if not path.is_absolute() and not path.exists():
        path = root / path
    settings = read_settings(SiteFile, path)
    rules = path.parent / QUEUES_FILE
    machine = read_settings(Machine, rules) if rules.exists() else None
    site = Site(**dict(settings), file=str(path.resolve()), machine=machine)
    faults = _queue_faults(site)
    if faults:
        raise ConfigError(faults_text(faults, str(path)))
    return site


def site_file(default_resources: Iterable[str]) -> str | None:
    """Return the site file that a profile names, from its ``name=value`` default resources."""
    for argument in default_resources:
        name, _, value = argument.partition("=")
        if name == "site":
            return value.strip("'\"")
    return None


def _queue_faults(site: Site) -> list[str]:
    """Return the faults of the site's queues that no study can mend."""
    if site.machine is None:
        return []
    faults = []
    known = list(site.machine.queues)
    for key, queue in {"queue": site.queue, "cpu.queue": site.cpu_queue}.items():
        if queue not in known:
            near = difflib.get_close_matches(queue, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            faults.append(
                f"{key} = {queue!r}: {site.machine.name} has {', '.join(known)}{hint}"
                f" (or state its rules in {QUEUES_FILE})"
            )
    if faults:
        return list(dict.fromkeys(faults))
    rules = site.machine.queues[site.queue]
    if rules.unit == "gpus" and site.gpus is None:
        faults.append(f"gpus: queue {site.queue!r} gives single GPUs; say how many a job takes")
    if rules.unit == "nodes" and site.gpus is not None:
        faults.append(f"gpus = {site.gpus}: queue {site.queue!r} gives whole nodes; remove the key")
    most = site.machine.gpus_per_node
    if most is not None and site.gpus_per_node > most:
        faults.append(
            f"gpus_per_node = {site.gpus_per_node}: a node of {site.machine.name} has {most}"
        )
    if site.machine.needs_filesystems and site.filesystems is None:
        faults.append(
            f"filesystems: {site.machine.name}'s jobs have to name those that they need, e.g. "
            "home:eagle"
        )
    if rules.gpu_memory_gb is not None and site.gpu_memory_gb > rules.gpu_memory_gb:
        faults.append(
            f"gpu_memory_gb = {site.gpu_memory_gb}: GPUs of queue {site.queue!r} have "
            f"{rules.gpu_memory_gb}"
        )
    return faults
