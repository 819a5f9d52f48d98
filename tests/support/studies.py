"""Running small studies in tests: configs, the workflow, and what their journals hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

PROJECT_ROOT = Path(__file__).resolve().parents[2]
SCRIPTED: dict[str, Any] = yaml.safe_load(
    (PROJECT_ROOT / "tests" / "workflow" / "data" / "config.yaml").read_text()
)


def write_config(folder: Path, **sections: Any) -> Path:
    """Write the scripted study's config with some sections replaced."""
    path = folder / f"config-{len(list(folder.glob('config-*.yaml')))}.yaml"
    path.write_text(yaml.safe_dump(SCRIPTED | sections))
    return path


def write_problems(path: Path, count: int) -> None:
    """Write a user benchmark of small sums."""
    rows = (
        {
            "problem_id": f"sum-{n:05d}",
            "problem": f"Sum {n}: what is {n % 5} plus {n % 4}?",
            "reference": str(n % 5 + n % 4),
            "answer_format": "integer",
        }
        for n in range(count)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def snakemake(
    folder: Path,
    config: Path,
    *targets: str,
    options: tuple[str, ...] = (),
    check: bool = True,
) -> subprocess.CompletedProcess[str]:
    """Run the workflow in a folder of its own."""
    command = [
        str(Path(sys.executable).with_name("snakemake")),
        *("--snakefile", str(PROJECT_ROOT / "Snakefile")),
        *("--directory", str(folder), "--configfile", str(config)),
        *("--cores", "2", "--resources", "engines=1", "--quiet", "rules"),
        *options,
        "--",
        *targets,
    ]
    environment = os.environ | {"PYTHONPATH": str(PROJECT_ROOT / "src")}
    result = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)
    if check and result.returncode != 0:
        raise AssertionError(f"{result.stdout}\n{result.stderr}")
    return result


def journal_lines(folder: Path) -> list[dict[str, Any]]:
    """Return all lines of all journals of the studies in a folder."""
    return [
        json.loads(line)
        for path in sorted(folder.glob("results/*/journal/**/*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def finished_more_than_once(folder: Path) -> dict[str, int]:
    """Return the keys that have more than one successful line, with how many."""
    counts = Counter(
        (str(path), json.loads(line)["key"])
        for path in folder.glob("results/*/journal/**/*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
        if json.loads(line)["status"] == "ok"
    )
    return {str(key): count for key, count in counts.items() if count > 1}
