"""From a pilot's counts to a plan: calls, tokens, GPU-hours, shards and jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

from dhd.config.load import Study
from dhd.config.models import ModelSettings, VllmModel
from dhd.planning.assumptions import Assumptions
from dhd.planning.counts import Line, Tally
from dhd.planning.pilot import run_pilot
from dhd.stages.bundles import Stage, study_bundles
from dhd.stages.parts import SCAN
from dhd.stages.protocols import protocol_turns

_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class PlanRow:
    """What one line of a plan costs.

    Attributes
    ----------
    line
        What is counted.
    problems
        Problems that the study has on this line.
    calls
        Model calls, retries included.
    calls_se
        Standard error of ``calls``; 0 where every problem of the pilot made as many.
    prompt_tokens, output_tokens
        Tokens in all; cached prompt tokens are counted.
    gpu_hours
        For a model that runs in the job; 0 for others.
    shards, jobs
        Units of work, and bundles that are submitted.
    """

    line: Line
    problems: float
    calls: float
    calls_se: float
    prompt_tokens: float
    output_tokens: float
    gpu_hours: float
    shards: int
    jobs: int


def make_plan(study: Study, assumptions: Assumptions, sample: int | None) -> tuple[PlanRow, ...]:
    """Return the plan of a study, a row for each part, stage, family, model and benchmark.

    Parameters
    ----------
    study
        The study.
    assumptions
        Lengths, rates and throughput of models that are not simulated.
    sample
        Problems of each benchmark that the pilot runs on; None for all.

    Raises
    ------
    ConfigError
        When a benchmark is not there.
    """
    tallies = run_pilot(study, assumptions, sample)
    parts = (SCAN, *study.settings.studies.replays(), "protocols", "evaluators")
    lines = sorted(tallies, key=lambda line: (parts.index(line.part), line.stage == "judging"))
    return tuple(_row(study, assumptions, line, tallies[line]) for line in lines)


def _row(study: Study, assumptions: Assumptions, line: Line, tally: Tally) -> PlanRow:
    groups = tally.groups.values()
    factor = tally.problems
    if line.stage == "judging" and study.settings.judging.method == "rules_then_llm":
        factor *= assumptions.undecided
    calls = factor * sum(fmean(usage.calls for usage in group) for group in groups)
    prompt = factor * sum(fmean(usage.prompt_tokens for usage in group) for group in groups)
    output = factor * sum(fmean(usage.output_tokens for usage in group) for group in groups)
    spread = sqrt(sum(_error([usage.calls for usage in group]) ** 2 for group in groups))
    shards, jobs = _units(study, line)
    return PlanRow(
        line=line,
        problems=tally.problems,
        calls=calls,
        calls_se=factor * spread,
        prompt_tokens=prompt,
        output_tokens=output,
        gpu_hours=gpu_hours(study.models[line.model], line.model, prompt, output, assumptions),
        shards=shards,
        jobs=jobs,
    )


def _error(calls: Sequence[int]) -> float:
    """Return the standard error of the mean."""
    return stdev(calls) / sqrt(len(calls)) if len(calls) > 1 else 0.0


def gpu_hours(
    model: ModelSettings, key: str, prompt: float, output: float, assumptions: Assumptions
) -> float:
    """Return the GPU-hours that a model needs for some tokens; 0 where it runs elsewhere."""
    if not isinstance(model, VllmModel):
        return 0.0
    speed = assumptions.throughput_of(key)
    computed = prompt * (1 - assumptions.cached)
    seconds = computed / speed.prompt_tokens_per_s + output / speed.output_tokens_per_s
    return seconds * model.tensor_parallel_size / _HOUR_S


def _units(study: Study, line: Line) -> tuple[int, int]:
    """Return the shards and jobs of a line.

    A replay study is judged in its own bundles; the protocols of a family, with all that they
    ask, are one set of jobs, which its first protocol counts; an evaluator is one job.
    """
    shards, jobs = _bundled(study, line.benchmark, _stage(line))
    if line.part == "evaluators":
        return shards, 1
    if line.part != "protocols":
        return shards, jobs
    protocols = study.settings.studies.protocols
    is_first = protocols is not None and line.stage == protocols.names[0]
    if not is_first or line.model != study.settings.families[line.family].actor:
        return 0, 0
    return shards, jobs * max(1, protocol_turns(study, line.family))


def _stage(line: Line) -> Stage:
    """Return the stage whose bundles a line is worked in."""
    if line.stage == "deliberation":
        return "deliberation"
    if line.part == "protocols":
        return "protocols"
    return "judging" if line.part in (SCAN, "evaluators") else "replays"


def _bundled(study: Study, benchmark: str, stage: Stage) -> tuple[int, int]:
    bundles = study_bundles(study, benchmark, stage)
    return sum(len(shards) for shards in bundles.values()), len(bundles)


def summed(rows: Iterable[PlanRow]) -> Mapping[tuple[str, str, str, str], Sequence[PlanRow]]:
    """Return the rows of all benchmarks together, by part, stage, family and model."""
    groups: dict[tuple[str, str, str, str], list[PlanRow]] = {}
    for row in rows:
        line = row.line
        groups.setdefault((line.part, line.stage, line.family, line.model), []).append(row)
    return groups
