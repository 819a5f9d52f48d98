"""A project folder of its own, whose paper's study is a small scripted one."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from support.studies import PROJECT_ROOT, SCRIPTED, write_problems

_COPIED = ("Snakefile", "workflow", "profiles")


def copy_project(
    folder: Path,
    links: Iterable[str],
    *,
    problems: int,
    models: dict[str, Any],
    judging_shards: int,
    sections: dict[str, Any],
) -> None:
    """Make a folder as a user's clone, with a study of shards of two problems.

    Parameters
    ----------
    links
        Links at the project's root that name profiles.
    judging_shards
        Shards that one judging job takes.
    sections
        Sections of the study that replace or join the usual ones.
    """
    folder.mkdir(parents=True)
    for name in (*_COPIED, *links):
        source = PROJECT_ROOT / name
        if source.is_dir() and not source.is_symlink():
            shutil.copytree(source, folder / name, symlinks=True)
        else:
            shutil.copy2(source, folder / name, follow_symlinks=False)
    (folder / "resources").symlink_to(PROJECT_ROOT / "resources")
    (folder / "envs").symlink_to(PROJECT_ROOT / "envs")
    (folder / "config").mkdir()
    write_problems(folder / "problems.jsonl", problems)
    write_yaml(folder / "config" / "models.yaml", {"models": models})
    study = {
        "models_file": "config/models.yaml",
        "families": {"alpha": {"actor": "m"}},
        "benchmarks": {"sums": {"loader": "user", "path": "problems.jsonl"}},
        "judging": {"method": "rules"},
        "shards": {"problems": 2},
        "bundles": {"deliberation_shards": 2, "judging_shards": judging_shards},
    }
    write_yaml(folder / "config" / "paper.yaml", SCRIPTED | study | sections)


def write_yaml(path: Path, content: dict[str, Any]) -> None:
    """Write a YAML file."""
    path.write_text(yaml.safe_dump(content))
