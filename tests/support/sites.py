"""Site files for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from dhd.sites import Site, read_site

PBS: dict[str, Any] = {
    "scheduler": "pbs",
    "account": "project",
    "queue": "preemptable",
    "nodes": 4,
    "walltime": "06:00:00",
    "filesystems": "home:eagle",
    "gpus_per_node": 4,
    "gpu_memory_gb": 40,
    "launcher": "mpiexec -n {nodes} --ppn 1",
}


def write_site(folder: Path, machine: str | None, root: Path, **changes: Any) -> Path:
    """Write a site file, with the queue rules of one of the project's profiles beside it."""
    path = folder / "site.yaml"
    path.write_text(yaml.safe_dump(PBS | changes))
    if machine is not None:
        rules = (root / "profiles" / machine / "queues.yaml").read_text()
        (folder / "queues.yaml").write_text(rules)
    return path


def site_of(folder: Path, root: Path, machine: str = "polaris", **changes: Any) -> Site:
    return read_site(write_site(folder, machine, root, **changes), root)
