"""The simulated engine's own time a request, on the scan of stand-in problems and its judging.

Usage: ``python bench/simulate.py``

Limit: 0.1 ms of CPU time a request, so that the paper's whole study, some 1.7 million requests,
spends its time in the pipeline.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

from measure import ROOT, Report

sys.path.insert(0, str(ROOT / "tests"))

PROBLEMS = 100


class TimedGenerate:
    """Asks an engine in memory and adds up the CPU time that it takes."""

    def __init__(self, settings: Any) -> None:
        from dhd.engines.simulated import SimulatedEngine
        from dhd.requests import KeyMaker

        self._engine = SimulatedEngine(settings)
        self._keys = KeyMaker(settings.identity(), 1)
        self.seconds, self.requests = 0.0, 0

    async def __call__(self, request: Any) -> Any:
        """Answer one request."""
        key = self._keys.key(request)
        before = time.process_time()
        completion = self._engine.answer(key, request)
        self.seconds += time.process_time() - before
        self.requests += 1
        return completion


async def scan(actor: TimedGenerate, judge: TimedGenerate) -> None:
    """Deliberate on some problems and judge every outcome."""
    from dhd.deliberation import deliberate
    from dhd.judging import Submission, judge_with_model
    from dhd.simulation.stand_ins import PREFIXES, codes
    from support.simulated import problem, setup

    shared = setup()
    everything = [code for benchmark in PREFIXES.values() for code in codes(benchmark)]
    for code in everything[:: len(everything) // PROBLEMS]:
        one = problem(code)
        result = await deliberate(one, shared, actor)
        for outcome in result.outcomes:
            submission = Submission(one.problem_uid, outcome.answer or "", outcome.cell.draw)
            await judge_with_model(one, submission, shared, 1, judge)


def main() -> None:
    """Measure and print the limits' verdicts."""
    from dhd.config.models import SimulatedModel

    model = SimulatedModel(engine="simulated")
    actor, judge = TimedGenerate(model), TimedGenerate(model)
    asyncio.run(scan(actor, judge))
    report = Report()
    for name, one in (("scan", actor), ("judging", judge)):
        each_ms = 1000 * one.seconds / one.requests
        report.line(
            f"simulated engine, {name}, {one.requests:,} requests",
            f"{each_ms:.3f} ms",
            limit="<= 0.1 ms",
            ok=each_ms <= 0.1,
        )
    report.close()


if __name__ == "__main__":
    main()
