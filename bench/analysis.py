"""Measure the analysis at the paper's size, each measurement in a fresh process.

Usage: ``python bench/analysis.py [--factor 8]``

Prints one line a measurement with its limit and pass or FAIL; exit code 1 when one fails.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
MONTE_CARLO_DRAWS = 1_000_000


@dataclass(frozen=True)
class Usage:
    """Wall and CPU seconds, peak resident memory (GiB) of one process, and what it printed.

    On a busy machine the two times differ; limits are held against the wall clock.
    """

    seconds: float
    cpu: float
    peak_gib: float
    output: str


def run(*command: str | Path) -> Usage:
    """Run a command in a fresh process and measure it; its failure is ours."""
    start = time.perf_counter()
    process = subprocess.Popen(  # noqa: S603 - only our own commands
        [sys.executable, *map(str, command)], stdout=subprocess.PIPE, text=True
    )
    output = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"failed with {process.returncode}: {' '.join(map(str, command))}")
    cpu = usage.ru_utime + usage.ru_stime
    return Usage(seconds, cpu, usage.ru_maxrss / 2**20, output)


def dhd(*arguments: str | Path) -> Usage:
    """Run one ``dhd`` command."""
    return run("-m", "dhd.cli", *arguments)


def problem_test_seconds(records: Path, method: str) -> float:
    """Return the CPU seconds that all problem-blocked p-values of the repeats take (Table 20)."""
    import numpy as np

    from dhd.analysis.context import AnalysisContext
    from dhd.analysis.repeated.problem_test import (
        exact_problem_p,
        monte_carlo_problem_p,
        problem_patterns,
    )
    from dhd.analysis.repeated.studies import repeats_of
    from dhd.analysis.settings import AnalysisSettings
    from dhd.records import load_records

    context = AnalysisContext(load_records(records), AnalysisSettings())
    studies = [problem_patterns(blocks) for blocks in repeats_of(context).values()]
    start = time.process_time()
    for patterns in studies:
        if method == "exact":
            exact_problem_p(patterns)
        else:
            monte_carlo_problem_p(patterns, MONTE_CARLO_DRAWS, np.random.default_rng(1))
    return time.process_time() - start


def report(
    what: str,
    value: float,
    unit: str,
    limit: float,
    *,
    at_least: bool = False,
    cpu: float | None = None,
) -> bool:
    """Print one line; return whether the limit holds."""
    good = value >= limit if at_least else value <= limit
    sign = "≥" if at_least else "≤"
    verdict = "pass" if good else "FAIL"
    beside = "" if cpu is None else f", {cpu:.2f} s of CPU"
    line = f"{verdict}  {what:<60} {value:8.2f} {unit:<4} ({sign} {limit:.3g}{beside})"
    print(line, flush=True)
    return good


def measure(folder: Path, factor: int) -> bool:
    """Make records and take all measurements; return whether every limit holds."""
    small, large = folder / "records_1", folder / f"records_{factor}"
    made = run(HERE / "synthetic_records.py", small)
    good = [report("synthetic records, 1×", made.seconds, "s", 20, cpu=made.cpu)]
    tables = dhd("tables", "--records", small, "--out", folder / "tables_1")
    good.append(report("tables in four formats, 1×", tables.seconds, "s", 15, cpu=tables.cpu))
    figures = dhd("figures", "--tables", folder / "tables_1", "--out", folder / "figures_1")
    good.append(report("figures in three formats, 1×", figures.seconds, "s", 25, cpu=figures.cpu))
    both, cpu = tables.seconds + figures.seconds, tables.cpu + figures.cpu
    good.append(report("tables and figures in all formats, 1×", both, "s", 40, cpu=cpu))
    peak = max(tables.peak_gib, figures.peak_gib)
    good.append(report("peak resident memory, 1×", peak, "GiB", 1.5))
    exact, sampled = (
        json.loads(run(__file__, "--problem-test", method, "--records", small).output)
        for method in ("exact", "monte_carlo")
    )
    what = f"exact blocked p ({exact:.2f} s) against {MONTE_CARLO_DRAWS:,} draws ({sampled:.1f} s)"
    good.append(report(what, sampled / exact, "×", 100, at_least=True))
    run(HERE / "synthetic_records.py", large, "--scale", str(factor))
    grown = dhd("tables", "--records", large, "--out", folder / f"tables_{factor}")
    what = f"growth of CPU time from 1× to {factor}×"
    good.append(report(what, grown.cpu / tables.cpu, "×", factor, cpu=grown.cpu))
    what = f"growth of peak memory from 1× to {factor}×"
    good.append(report(what, grown.peak_gib / tables.peak_gib, "×", factor))
    return all(good)


def main() -> int:
    """Measure everything, or be the fresh process of one measurement."""
    parser = argparse.ArgumentParser(description="Measure the analysis at the paper's size.")
    parser.add_argument("--factor", type=int, default=8, help="largest multiple of the size")
    parser.add_argument("--records", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--problem-test", choices=("exact", "monte_carlo"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.problem_test is not None:
        print(json.dumps(problem_test_seconds(args.records, args.problem_test)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        return 0 if measure(Path(folder), args.factor) else 1


if __name__ == "__main__":
    sys.exit(main())
