"""Sixty random faults over a study of 40 shards on the PBS stand-in: nothing is lost or differs.

Usage: ``python bench/chaos.py [EVENTS]``

Jobs of two nodes with an engine each are preempted and deleted; ranks, engines and the
controller are killed with SIGKILL; disks fill up; journals get torn last lines; renames take
their time. Whenever Snakemake has ended, ``dhd resume`` goes on. Limits: tables byte-identical to
those of an undisturbed run on one machine; no request finished twice; requests asked again no
more than were in flight at the faults.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

from chaos_events import KINDS, Chaos
from measure import ROOT, Report

sys.path.insert(0, str(ROOT / "tests"))

from support.pbs_study import PbsStudy, make_study

EVENTS, SEED = 60, 20260814
SHARDS = 40
IN_FLIGHT = 4
LIMIT_S = 3600.0


def make(folder: Path, *, engines: int | None) -> PbsStudy:
    """Make a project folder with the study; with engines of its own on each of two nodes."""
    model = {"engine": "scripted", "name": "m", "max_in_flight": IN_FLIGHT}
    model |= {"latency_s": 0.3, "engines_per_node": engines} if engines else {}
    faults = ROOT / "bench" / "chaos_faults"
    variables = {
        "PYTHONPATH": f"{ROOT / 'src'}:{faults}",
        "DHD_FAULTS": str(folder / "faults"),
        "DHD_ASKED_LOG": str(folder / "asked.log"),
    }
    study = make_study(
        folder,
        models={"m": model},
        site={"nodes": 2 if engines else 1, "environment": variables},
        problems=SHARDS,
        shards={"problems": 1},
        bundles={"deliberation_shards": 5, "judging_shards": SHARDS},
        journal={"drain_s": 3.0, "stale_after_s": 15.0},
    )
    study.variables = {"FAKEPBS_NODES": "4"}
    return study


def run_calm(folder: Path) -> PbsStudy:
    """Run the study on one machine, undisturbed."""
    study = make(folder, engines=None)
    options = ("--configfile", "config/paper.yaml", "--cores", "2", "--resources", "engines=1")
    ran = study.call("snakemake", *options, "--", "tables")
    if ran.returncode:
        sys.exit(f"the undisturbed run failed\n{ran.stdout}\n{ran.stderr}")
    return study


def run_disturbed(folder: Path, events: int, requests: int) -> Chaos:
    """Run the study through as many faults, then to its end."""
    chaos = Chaos(make(folder, engines=1), random.Random(SEED))  # noqa: S311
    kinds = [KINDS[n % len(KINDS)] for n in range(events)]
    chaos.random.shuffle(kinds)
    deadline = time.monotonic() + LIMIT_S
    for number, kind in enumerate(kinds):
        chaos.pace(share=(number + 1) / (events + 1), requests=requests, deadline=deadline)
        chaos.apply(kind)
    chaos.finish(deadline)
    return chaos


def contents(study: PbsStudy) -> dict[str, bytes]:
    """Return the study's tables, by name."""
    folder = study.folder / "results" / "scripted" / "tables"
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.*")}


def main() -> None:
    """Compare a disturbed study with an undisturbed one."""
    events = int(sys.argv[1]) if len(sys.argv) > 1 else EVENTS
    report = Report()
    with tempfile.TemporaryDirectory(prefix="dhd-chaos-") as base:
        calm = run_calm(Path(base) / "calm")
        requests = calm_requests(calm)
        begun = time.monotonic()
        chaos = run_disturbed(Path(base) / "study", events, requests)
        for kind in KINDS:
            report.note(f"faults: {kind}", f"{chaos.applied[kind]}")
        report.note("times that `dhd resume` was needed", f"{chaos.resumed}")
        report.note("time", f"{time.monotonic() - begun:,.0f} s")
        judge(report, chaos, calm, events)
    report.close()


def calm_requests(calm: PbsStudy) -> int:
    """Return how many requests the study has."""
    journals = calm.folder.glob("results/*/journal/**/*.jsonl")
    return sum(len(path.read_bytes().splitlines()) for path in journals)


def judge(report: Report, chaos: Chaos, calm: PbsStudy, events: int) -> None:
    """Say what came out."""
    applied = chaos.applied.total()
    report.line("faults in all", f"{applied}", limit=f"{events}", ok=applied == events)
    ours, theirs = contents(chaos.study), contents(calm)
    differing = [name for name in ours | theirs if ours.get(name) != theirs.get(name)]
    report.line(
        "tables that differ from an undisturbed run's",
        f"{len(differing)} of {len(theirs)}",
        limit="none of their files by one byte",
        ok=not differing and bool(theirs),
    )
    twice = sum(count > 1 for count in chaos.finished().values())
    report.line("requests finished twice", f"{twice}", limit="0", ok=not twice)
    again, in_flight = chaos.asked_again(), chaos.in_flight
    report.line(
        "requests asked again",
        f"{again}",
        limit=f"at most {in_flight} in flight at the faults",
        ok=again <= in_flight,
    )
    most = max(chaos.lost_by_process().values(), default=0)
    report.line(
        "requests that one process lost", f"{most}", limit=f"<= {IN_FLIGHT}", ok=most <= IN_FLIGHT
    )


if __name__ == "__main__":
    main()
