"""With which command a study goes on: noted by its last run, else found by its name."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from dhd.config.reading import read_yaml
from dhd.errors import DhdError
from dhd.status.plan import read_plan

_LOCAL = "profiles/local"
_CONFIGS = Path("config")


def rerun_command(folder: Path) -> str | None:
    """Return the command that goes on with the study in ``folder``; None where it is not known.

    Parameters
    ----------
    folder
        ``results/<study>``, whether it exists or not.
    """
    try:
        plan = read_plan(folder)
        profile, configs = plan.profile, list(plan.configs)
    except DhdError:
        profile, configs = "", []
    configs = configs or _configs_of(folder.name)
    if not configs:
        return None
    words = [_snakemake(), "--profile", profile or _LOCAL, "--configfile", *configs]
    return shlex.join(words)


def _snakemake() -> str:
    """Return how Snakemake is called here: by name, or by the path of this environment's."""
    if shutil.which("snakemake"):
        return "snakemake"
    path = Path(sys.executable).with_name("snakemake")
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _configs_of(study: str) -> list[str]:
    """Return the file in ``config/`` that describes a study of this name, the first of several."""
    for path in sorted(_CONFIGS.glob("*.yaml")):
        try:
            name = read_yaml(path).get("study")
        except DhdError:
            continue
        if name == study:
            return [str(path)]
    return []
