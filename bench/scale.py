"""The controller at full size: the paper's DAG, and 2,000 shards through the PBS stand-in.

Usage: ``python bench/scale.py``

Limits: ``snakemake -n`` of the paper's whole study in 10 s; 2,000 shards in bundles at 0.1 s of
the controller's CPU time a shard (its submit and status commands included, the stand-in's clients
not) and 400 MiB, with at most 25 calls of qstat in any minute, a minute of which qstat is away.
The jobs are no-ops: what is measured is the controller.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import yaml
from measure import ROOT, Report

sys.path.insert(0, str(ROOT / "tests"))

from support.pbs_study import PbsStudy, make_study

DAG_LIMIT_S = 10.0
SHARDS = 2_000
CPU_LIMIT_S = 0.1
MEMORY_LIMIT_MIB = 400
QSTAT_LIMIT = 25
OUTAGE_S = 60
BENCHMARKS = ("omni_math_2", "jeebench", "scibench", "lab_bench", "mascqa")


def paper_study(folder: Path) -> PbsStudy:
    """Make a folder with the paper's study as it is, its problems replaced by stand-ins."""
    study = make_study(folder)
    for name in ("paper.yaml", "models.yaml"):
        shutil.copy2(ROOT / "config" / name, folder / "config" / name)
    written = study.call("dhd", "stand-ins", "--out", "data/stand_ins")
    if written.returncode:
        sys.exit(written.stderr)
    path = folder / "config" / "paper.yaml"
    settings = yaml.safe_load(path.read_text())
    settings["benchmarks"] = {
        name: {"loader": "user", "path": f"data/stand_ins/{name}.jsonl"} for name in BENCHMARKS
    }
    path.write_text(yaml.safe_dump(settings, sort_keys=False))
    return study


def measure_dag(folder: Path, report: Report) -> None:
    """Time the dry run of the paper's study."""
    study = paper_study(folder)
    start = time.perf_counter()
    ran = study.call("snakemake", "--profile", "polaris", "-n", "--quiet", "rules")
    wall_s = time.perf_counter() - start
    if ran.returncode:
        sys.exit(ran.stdout + ran.stderr)
    total = next(line.split()[-1] for line in ran.stdout.splitlines() if line.startswith("total"))
    report.line(
        f"snakemake -n of the paper's study, {int(total):,} jobs",
        f"{wall_s:.1f} s",
        limit=f"<= {DAG_LIMIT_S:.0f} s",
        ok=wall_s <= DAG_LIMIT_S,
    )


def measure_shards(folder: Path, report: Report) -> None:
    """Run deliberation and judging of 2,000 shards with jobs that do nothing."""
    study = make_study(
        folder,
        problems=SHARDS,
        shards={"problems": 1},
        bundles={"deliberation_shards": 8, "judging_shards": 32},
    )
    shutil.copy2(
        ROOT / "profiles" / "polaris" / "config.v9+.yaml",
        folder / "profiles" / "polaris" / "config.v9+.yaml",
    )
    runner = f"{sys.executable} -IS {ROOT / 'bench' / 'noop_job.py'}"
    study.variables = {"FAKEPBS_RUNNER": runner, "FAKEPBS_NODES": "40", "DHD_PBS_POLL_S": "15"}
    start = time.perf_counter()
    controller = study.start("snakemake", "--profile", "polaris", "--until", "judge_bundle")
    study.wait_for(lambda: len(study.jobs()) > 60, within_s=600)
    (study.server / "outage").write_text(str(time.time() + OUTAGE_S))
    _, status, usage = os.wait4(controller.pid, 0)
    wall_s = time.perf_counter() - start
    if status:
        sys.exit(f"Snakemake ended with {status}\n{study.told()}")
    clients_s = sum(map(float, (study.server / "cpu_s").read_text().split()))
    cpu_s = (usage.ru_utime + usage.ru_stime - clients_s) / SHARDS
    memory_mib = usage.ru_maxrss / 1024
    times = study.calls("qstat")
    qstats = max(sum(first <= t < first + 60 for t in times) for first in times)
    report.note(f"{SHARDS:,} shards in {len(study.jobs())} jobs, no-op", f"{wall_s:.0f} s")
    report.line(
        "controller's CPU time a shard",
        f"{cpu_s:.3f} s",
        limit=f"<= {CPU_LIMIT_S} s",
        ok=cpu_s <= CPU_LIMIT_S,
    )
    report.line(
        "controller's peak memory",
        f"{memory_mib:.0f} MiB",
        limit=f"<= {MEMORY_LIMIT_MIB} MiB",
        ok=memory_mib <= MEMORY_LIMIT_MIB,
    )
    report.line(
        f"calls of qstat in any minute, {OUTAGE_S} s of it away",
        f"{qstats}",
        limit=f"<= {QSTAT_LIMIT}",
        ok=qstats <= QSTAT_LIMIT,
    )


def main() -> None:
    """Measure both and print the limits' verdicts."""
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        measure_dag(Path(folder, "paper"), report)
        measure_shards(Path(folder, "shards"), report)
    report.close()


if __name__ == "__main__":
    main()
