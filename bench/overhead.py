"""Pipeline overhead outside the engine: render, key, journal, parse; scripted engine.

Usage: ``python bench/overhead.py``

The engine's own time (its ``poll`` and ``submit``) is taken off. Limits: 0.4 ms a request, no
growth from 1,000 to 100,000 requests in time a request and in memory.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from measure import ROOT, Report, run_fresh

REQUESTS_PER_PROBLEM = 25
SIZES = (1_000, 10_000, 100_000)
PROBLEMS_PER_SHARD = 16


def measure(requests: int, folder: Path) -> dict[str, float]:
    """Run the scan of as many problems as ask ``requests`` requests; return time and memory."""
    from dhd.config.models import ScriptedModel
    from dhd.config.prompts import PromptSettings
    from dhd.config.study import DecodingSettings
    from dhd.deliberation import ProtocolSetup
    from dhd.driver import EngineQueue, Session, SessionLimits, ShardWork
    from dhd.engines.scripted import ScriptedEngine
    from dhd.progress import Progress
    from dhd.prompts import PromptSet
    from dhd.stages.deliberate import scan_tables, scan_task

    engine = TimedEngine(ScriptedEngine(ScriptedModel(engine="scripted", max_in_flight=256)))
    setup = ProtocolSetup(
        PromptSet(PromptSettings(), ROOT), DecodingSettings().by_role(), share_identical_inputs=True
    )
    problems = requests // REQUESTS_PER_PROBLEM
    shards = [
        ShardWork(
            f"{start}",
            folder / f"{start}.jsonl",
            [
                scan_task(setup, made_problem(n))
                for n in range(start, min(start + PROBLEMS_PER_SHARD, problems))
            ],
            partial(scan_tables, "bench"),
        )
        for start in range(0, problems, PROBLEMS_PER_SHARD)
    ]
    queue = EngineQueue(engine.identity, lambda: engine, seed=1)
    roles = ("recruiter", "hypothesizer", "integrator")
    session: Session[Any, Any] = Session(
        dict.fromkeys(roles, queue), SessionLimits(), Progress("bench", requests)
    )
    before = time.process_time()
    session.run(shards)
    spent = time.process_time() - before - engine.seconds
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"ms": 1000 * spent / queue.counts.ok, "requests": queue.counts.ok, "peak_mib": peak}


class TimedEngine:
    """Passes everything on and adds up the CPU time that the engine itself takes."""

    def __init__(self, engine: Any) -> None:
        self.identity, self._engine, self.seconds = engine.identity, engine, 0.0
        self.capacity = engine.capacity
        self.start, self.close = engine.start, engine.close

    def submit(self, key: str, request: Any) -> None:
        """Pass a request on."""
        self._engine.submit(key, request)

    async def poll(self) -> Any:
        """Pass answers on."""
        before = time.process_time()
        answers = await self._engine.poll()
        self.seconds += time.process_time() - before
        return answers


def made_problem(number: int) -> Any:
    """Return a problem of the length of an exam question."""
    from dhd.problems import Problem

    text = f"Body {number} of mass {number % 7 + 1} kg slides down a rough incline. " * 8
    return Problem(f"bench:{number}", "bench", text + "What is its speed?", "3", "integer")


def main() -> None:
    """Measure each size in a fresh process and print the limits' verdicts."""
    if len(sys.argv) == 2:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measure(int(sys.argv[1]), Path(folder))))
        return
    report = Report()
    found = {size: run_fresh(__file__, str(size)).result for size in SIZES}
    for size, one in found.items():
        report.line(
            f"overhead a request, {size:,} requests",
            f"{one['ms']:.3f} ms",
            limit="<= 0.4 ms",
            ok=one["ms"] <= 0.4,
        )
        report.note(f"peak memory, {size:,} requests", f"{one['peak_mib']:,.0f} MiB")
    small, large = found[SIZES[0]], found[SIZES[-1]]
    ratio = large["ms"] / small["ms"]
    report.line(
        "time a request, 100,000 against 1,000", f"{ratio:.2f}", limit="<= 1.15", ok=ratio <= 1.15
    )
    grown = (large["peak_mib"] - small["peak_mib"]) * 1024 / (SIZES[-1] - SIZES[0])
    report.line(
        "memory kept a finished request",
        f"{grown:.2f} KiB",
        limit="<= 2 KiB: its two table rows",
        ok=grown <= 2,
    )
    report.close()


if __name__ == "__main__":
    main()
