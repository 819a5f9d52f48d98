"""The worker process of ``ComparisonPool``: ``python -m dhd.answers.worker LIMIT_S MEMORY_BYTES``.

It reads one JSON request a line and writes one JSON reply a line. It kills itself when one
comparison takes too long, by a timer of the kernel that no computation can hold up, so that it
never outlives its parent by more than that; without a parent, the end of its input ends it.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
from typing import Any

from dhd.answers import symbolic
from dhd.answers.compare import compare_by_rules, needs_library, with_library
from dhd.answers.pool import LOADING, READY
from dhd.problems import Problem

GRACE_S = 0.5
"""The parent kills at the limit; the worker's own timer is for when the parent is dead."""


def _say(reply: object) -> None:
    sys.stdout.write(json.dumps(reply) + "\n")
    sys.stdout.flush()


def _compare(request: dict[str, Any], limit_s: float) -> list[object]:
    options = request["options"]
    problem = Problem(
        problem_uid="",
        benchmark=request["benchmark"],
        problem="",
        reference=request["reference"],
        answer_format=request["answer_format"],
        options=None if options is None else tuple(options),
        unit=request["unit"],
    )
    submitted, shows_factor = request["submitted"], request["prompt_shows_factor"]
    signal.setitimer(signal.ITIMER_REAL, limit_s + GRACE_S)
    result = compare_by_rules(problem, submitted, prompt_shows_factor=shows_factor)
    if needs_library(problem, submitted, result):
        if not symbolic.is_loaded():
            signal.setitimer(signal.ITIMER_REAL, 0)
            _say(LOADING)
            symbolic.load()
            _say(READY)
        signal.setitimer(signal.ITIMER_REAL, limit_s + GRACE_S)
        result = with_library(problem, submitted, result)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return [result.equivalent, result.reason]


def main(limit_s: float, memory_bytes: int) -> None:
    """Answer requests until the input ends."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _say(READY)
    for line in sys.stdin:
        _say(_compare(json.loads(line), limit_s))


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
