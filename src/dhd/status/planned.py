"""From a study's settings to the plan that its controller notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dhd.config.load import Study
from dhd.config.models import ModelSettings
from dhd.deliberation import ProtocolSetup, expected_requests
from dhd.layout import Shard
from dhd.planning.parts import replay_calls, replayed_problems
from dhd.prompts import PromptSet
from dhd.stages.bundles import Stage
from dhd.stages.parts import SCAN
from dhd.stages.protocols import protocol_families
from dhd.stages.settings import stage_digest
from dhd.status.plan import BundlePlan, StagePlan, StudyPlan

#: The bundles of each stage: for each benchmark, by the bundle's name, its shards.
Bundles = Mapping[Stage, Mapping[str, Mapping[str, tuple[Shard, ...]]]]


@dataclass(frozen=True, slots=True)
class _Line:
    """What all benchmarks of one line have in common.

    ``problems`` returns on how many of a benchmark's problems the line works; None while
    nobody knows.
    """

    folder: tuple[str, ...]
    group: str
    journals: tuple[str, ...]
    model: ModelSettings | None
    settings: str
    kinds: tuple[str, ...]
    bundles: Stage
    problems: Callable[[int], float | None]
    requests_per_problem: float | None = None
    sampled: bool = True


def study_plan(study: Study, bundles: Bundles) -> StudyPlan:
    """Return all stages of a study with their bundles, in the order in which they run.

    Parameters
    ----------
    study
        The study.
    bundles
        Its bundles as the workflow has them.
    """
    lines = [
        *_deliberation(study),
        *_replays(study),
        *_judging(study),
        *_protocols(study),
        *_audits(study),
    ]
    stages = [_stage(line, name, bundles) for line in lines for name in bundles["judging"]]
    return StudyPlan(study.settings.study, study.settings.journal.stale_after_s, tuple(stages))


def _deliberation(study: Study) -> Iterator[_Line]:
    setup = ProtocolSetup.of(study.settings, PromptSet(study.settings.prompts, study.root))
    for family in study.settings.families:
        yield _Line(
            folder=("deliberation", family),
            group=f"deliberation {family}",
            journals=("deliberation", family),
            model=study.actor(family),
            settings=stage_digest(study, "deliberation", family=family),
            kinds=("messages", "outcomes"),
            bundles="deliberation",
            problems=float,
            requests_per_problem=expected_requests(setup),
            sampled=False,
        )


def _replays(study: Study) -> Iterator[_Line]:
    for replay in study.settings.studies.replays():
        for model, integrator in study.settings.replay_pairs(replay):
            by = "" if model == integrator else f" by {integrator}"
            yield _Line(
                folder=("replays", replay, model, integrator),
                group=f"{replay} {model}{by}",
                journals=(replay, model, integrator),
                model=study.actor(integrator),
                settings=stage_digest(study, "replays", family=integrator, replay=replay),
                kinds=("outcomes",),
                bundles="replays",
                problems=partial(replayed_problems, study, replay),
                requests_per_problem=len(replay_calls(study, replay)),
            )


def _judging(study: Study) -> Iterator[_Line]:
    replays = study.settings.studies.replays()
    sizes: dict[str, Callable[[int], float | None]] = {SCAN: float}
    sizes |= {replay: partial(replayed_problems, study, replay) for replay in replays}
    for part, problems in sizes.items():
        yield _Line(
            folder=("judging", part),
            group="judging",
            journals=("judging", str(study.settings.judging.evaluator)),
            model=study.evaluator(),
            settings=stage_digest(study, "judging"),
            kinds=("judgements",),
            bundles="judging" if part == SCAN else "replays",
            problems=problems,
            sampled=part != SCAN,
        )


def _protocols(study: Study) -> Iterator[_Line]:
    protocols = study.settings.studies.protocols
    wanted = None if protocols is None else protocols.problems
    for family in protocol_families(study):
        yield _Line(
            folder=("protocols", family),
            group=f"protocols {family}",
            journals=("protocols", family),
            model=study.actor(family),
            settings=stage_digest(study, "protocols", family=family),
            kinds=("protocol_runs",),
            bundles="protocols",
            problems=lambda size: min(wanted or size, size),
        )


def _audits(study: Study) -> Iterator[_Line]:
    evaluators = study.settings.studies.evaluators
    for evaluator in evaluators.models if evaluators is not None else ():
        yield _Line(
            folder=("audits", evaluator),
            group=f"audit {evaluator}",
            journals=("audits", evaluator),
            model=study.models[evaluator],
            settings=stage_digest(study, "audits", family=evaluator),
            kinds=("evaluations",),
            bundles="judging",
            problems=lambda _: None,
        )


def _stage(line: _Line, benchmark: str, bundles: Bundles) -> StagePlan:
    cut = bundles[line.bundles][benchmark]
    size = sum(shard.stop - shard.start for shards in cut.values() for shard in shards)
    return StagePlan(
        label="/".join((*line.folder, benchmark)),
        group=line.group,
        journals="/".join(("journal", *line.journals, benchmark)),
        model="" if line.model is None else str(line.model.identity()),
        settings=line.settings,
        sampled=line.sampled,
        problems=line.problems(size),
        requests_per_problem=line.requests_per_problem,
        bundles=tuple(_bundles(line, benchmark, cut)),
    )


def _bundles(
    line: _Line, benchmark: str, cut: Mapping[str, tuple[Shard, ...]]
) -> Iterator[BundlePlan]:
    folder = Path("bundles", *line.folder)
    if line.folder[0] == "audits":  # an evaluator judges a benchmark in one job
        names = tuple(shard.name for shards in cut.values() for shard in shards)
        yield BundlePlan(benchmark, names, (f"{folder}/{benchmark}.evaluations.parquet",))
        return
    for name, shards in cut.items():
        outputs = tuple(f"{folder}/{benchmark}/{name}.{kind}.parquet" for kind in line.kinds)
        yield BundlePlan(name, tuple(shard.name for shard in shards), outputs)
