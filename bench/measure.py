"""What all benchmarks share: fresh processes, and one line a measurement with its verdict."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Usage:
    """Wall seconds, CPU seconds and peak resident memory (MiB) of one process; its last line."""

    wall_s: float
    cpu_s: float
    peak_mib: float
    result: Any


def run_fresh(*command: str | Path, cwd: Path | None = None) -> Usage:
    """Run a Python command in a fresh process; its last line of output is JSON, its result."""
    start = time.perf_counter()
    process = subprocess.Popen(  # noqa: S603 - only our own commands
        [sys.executable, *map(str, command)], stdout=subprocess.PIPE, text=True, cwd=cwd
    )
    output = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"failed with {process.returncode}: {' '.join(map(str, command))}")
    return Usage(
        time.perf_counter() - start,
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss / 1024,
        json.loads(output.splitlines()[-1]),
    )


class Report:
    """Prints measurements as they come and remembers whether one missed its limit."""

    def __init__(self) -> None:
        self.failed = 0

    def line(self, what: str, value: str, *, limit: str, ok: bool) -> None:
        """Print one measurement."""
        self.failed += not ok
        print(f"{'pass' if ok else 'FAIL'}  {what:<58} {value:>16}  ({limit})", flush=True)

    def note(self, what: str, value: str) -> None:
        """Print a number that has no limit."""
        print(f"      {what:<58} {value:>16}", flush=True)

    def close(self) -> None:
        """Exit with 1 when a measurement missed its limit."""
        sys.exit(1 if self.failed else 0)
