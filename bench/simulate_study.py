"""The paper's whole study in simulation, as ``make simulate`` runs it, in a folder of its own.

Usage: ``python bench/simulate_study.py [--limit N]``

Limits: 25 minutes, and 6 GB of resident memory of all processes together, on 2 cores. Memory is
sampled; pages that processes share count for each. ``--limit`` takes N problems of each
benchmark, to try the measurement itself.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from measure import ROOT, Report

WALL_LIMIT_MIN = 25.0
MEMORY_LIMIT_GB = 6.0
INTERVAL_S = 0.5
TABLES = {f"table_{number:02d}" for number in range(1, 29)}
FIGURES = {f"figure_{number:02d}" for number in (4, 6, 7, 8, 9)}


def command(name: str, *arguments: str | Path) -> list[str]:
    """Return a command of this environment."""
    return [str(Path(sys.executable).with_name(name)), *map(str, arguments)]


def tree_bytes(root: psutil.Process) -> int:
    """Return the resident memory of a process and of all that descend from it."""
    total = 0
    for process in [root, *root.children(recursive=True)]:
        try:
            total += process.memory_info().rss
        except psutil.Error:  # it ended meanwhile
            continue
    return total


def run_study(folder: Path) -> tuple[float, float]:
    """Run the study; return its wall time in minutes and its peak memory in GB."""
    arguments = (
        *("--snakefile", ROOT / "Snakefile", "--profile", ROOT / "profiles" / "local"),
        *("--directory", folder, "--configfile", ROOT / "config" / "simulate.yaml"),
        *("--cores", "2", "--quiet", "rules", "--", "all"),
    )
    start, peak = time.perf_counter(), 0
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(  # noqa: S603 - only our own command
            command("snakemake", *arguments),
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        )
        root = psutil.Process(process.pid)
        while process.poll() is None:
            try:
                peak = max(peak, tree_bytes(root))
            except psutil.NoSuchProcess:
                break
            time.sleep(INTERVAL_S)
        if process.wait() != 0:
            sys.exit((folder / "log").read_text()[-5000:])
    return (time.perf_counter() - start) / 60, peak / 1e9


def requests_of(folder: Path) -> int:
    """Return how many requests the journals hold."""
    count = 0
    for path in folder.glob("journal/**/*.jsonl"):
        with path.open("rb") as lines:
            count += sum(1 for _ in lines)
    return count


def measure(folder: Path, limit: int | None, report: Report) -> None:
    """Write the stand-ins, run the study, and print what it took."""
    limited = () if limit is None else ("--limit", str(limit))
    written = command("dhd", "stand-ins", "--out", folder / "data" / "stand_ins", *limited)
    subprocess.run(written, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)  # noqa: S603
    wall_min, peak_gb = run_study(folder)
    results = folder / "results" / "simulate"
    report.line(
        f"whole study simulated, {requests_of(results):,} requests",
        f"{wall_min:.1f} min",
        limit=f"<= {WALL_LIMIT_MIN:.0f} min",
        ok=wall_min <= WALL_LIMIT_MIN,
    )
    report.line(
        "resident memory of all its processes, peak",
        f"{peak_gb:.2f} GB",
        limit=f"<= {MEMORY_LIMIT_GB:.0f} GB",
        ok=peak_gb <= MEMORY_LIMIT_GB,
    )
    tables = TABLES & {path.stem for path in results.glob("tables/*.csv")}
    figures = FIGURES & {path.stem for path in results.glob("figures/*.pdf")}
    report.line(
        "tables and figures of the paper that it made",
        f"{len(tables)} + {len(figures)}",
        limit=f"{len(TABLES)} + {len(FIGURES)}",
        ok=(tables, figures) == (TABLES, FIGURES),
    )


def main() -> None:
    """Measure and print the limits' verdicts."""
    parser = argparse.ArgumentParser(description="Run the paper's whole study in simulation.")
    parser.add_argument("--limit", type=int, help="problems of each benchmark; all if absent")
    limit = parser.parse_args().limit
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), limit, report)
    report.close()


if __name__ == "__main__":
    main()
