"""All benchmarks, one after the other; exit code 1 when one misses a limit.

Usage: ``python bench/run.py [NAME …]``
"""

from __future__ import annotations

import subprocess
import sys

from measure import ROOT

NAMES = (
    "overhead",
    "sharing",
    "prefix_cache",
    "generation",
    "analysis",
    "simulate",
    "simulate_study",
    "scale",
    "chaos",
)


def main() -> None:
    """Run those named, else all."""
    names = sys.argv[1:] or NAMES
    failed = []
    for name in names:
        print(f"\n== {name}: python bench/{name}.py", flush=True)
        script = ROOT / "bench" / f"{name}.py"
        if subprocess.run([sys.executable, str(script)], cwd=ROOT).returncode:  # noqa: S603
            failed.append(name)
    print(f"\n{len(names) - len(failed)} benchmarks passed, {len(failed)} failed {failed or ''}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
