"""Running a study's coroutines on a few problems in memory, and counting what they ask."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from dhd.benchmarks import load_benchmark
from dhd.config.load import Study
from dhd.errors import ConfigError
from dhd.layout import StudyPaths
from dhd.planning.assumptions import Assumptions
from dhd.planning.counts import Counts, Line, Tally
from dhd.planning.judges import PlannedRules
from dhd.planning.parts import BenchmarkPilot
from dhd.problems import Problem
from dhd.stages.absent import absent_fault, local_path


def run_pilot(study: Study, assumptions: Assumptions, sample: int | None) -> dict[Line, Tally]:
    """Return what a study asks on some problems of each benchmark.

    Parameters
    ----------
    study
        The study that is planned.
    assumptions
        Lengths and rates of models that are not simulated.
    sample
        Problems of each benchmark; None for all.

    Raises
    ------
    ConfigError
        When a benchmark is neither local nor downloaded.
    """
    counts = Counts(study, assumptions)
    with PlannedRules(study, assumptions) as rules:
        for benchmark in study.settings.benchmarks:
            problems = load_problems(study, benchmark)
            pilot = BenchmarkPilot(study, counts, rules, len(problems))
            for problem in evenly(problems, sample):
                asyncio.run(pilot.run(problem))
                counts.forget()
    return counts.tallies


def load_problems(study: Study, benchmark: str) -> tuple[Problem, ...]:
    """Return the problems of a benchmark that is local or downloaded.

    Raises
    ------
    ConfigError
        When it is neither.
    """
    entry = study.settings.benchmarks[benchmark]
    path = local_path(study, benchmark)
    if path is None:
        path = StudyPaths.of(study.settings.study).folder / "downloads" / benchmark
    if not path.exists():
        raise ConfigError(absent_fault(study, benchmark))
    return load_benchmark(benchmark, entry, path).problems


def evenly(problems: Sequence[Problem], sample: int | None) -> list[Problem]:
    """Return problems spread evenly over all, so that every stratum has its share."""
    if sample is None or sample >= len(problems):
        return list(problems)
    return [problems[(2 * place + 1) * len(problems) // (2 * sample)] for place in range(sample)]
