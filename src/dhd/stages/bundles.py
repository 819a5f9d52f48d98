"""Running one bundle: its shards, their journals, the engines, in one session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar, get_args

from dhd.benchmarks import problem_count
from dhd.config.load import Study
from dhd.config.models import ModelSettings
from dhd.driver import EngineQueue, JournalQueue, Session, SessionLimits, ShardWork
from dhd.engines.build import build_engine
from dhd.errors import ConfigError
from dhd.journal.holders import journals_of_problems, note_problems
from dhd.layout import Shard, StudyPaths, cut_bundles, cut_shards
from dhd.problems import Problem
from dhd.progress import Progress
from dhd.requests import Generate, Role
from dhd.stages.prepare import read_problems

Stage = Literal["deliberation", "judging", "replays", "protocols"]
STAGES: tuple[Stage, ...] = get_args(Stage)
Result = TypeVar("Result")
Output = TypeVar("Output")
#: Makes the coroutine function that works on one problem.
TaskMaker = Callable[[Problem], Callable[[Generate], Awaitable[Result]]]

_OUTSTANDING_PER_SLOT = 2
"""Requests kept ready for each place in an engine's batch."""


def study_bundles(study: Study, benchmark: str, stage: Stage) -> dict[str, tuple[Shard, ...]]:
    """Return the bundles of a benchmark by name; known from the config alone.

    Raises
    ------
    ConfigError
        When a local benchmark is not where the config says.
    """
    settings = study.settings
    entry = settings.benchmarks[benchmark]
    path = None if entry.path is None else study.resolve(entry.path)
    if path is not None and not path.exists():
        raise ConfigError(
            f"benchmarks.{benchmark}.path = {entry.path!r}: no such file or folder; put the "
            f"upstream files there or correct the path (looked below {Path.cwd()} and {study.root})"
        )
    count = problem_count(benchmark, entry, path)
    shards = cut_shards(benchmark, count, settings.shards.problems)
    return cut_bundles(shards, bundle_size(study, stage))


def bundle_size(study: Study, stage: Stage) -> int:
    """Return how many shards one job of a stage takes: its shards a node times its nodes."""
    nodes = 1 if study.site is None else study.site.nodes
    return nodes * shards_per_node(study, stage)


def shards_per_node(study: Study, stage: Stage) -> int:
    """Return how many shards a job of a stage takes for each of its nodes."""
    bundles = study.settings.bundles
    sizes: dict[Stage, int] = {
        "deliberation": bundles.deliberation_shards,
        "judging": bundles.judging_shards,
        "replays": bundles.replay_shards,
        "protocols": bundles.protocol_shards,
    }
    return sizes[stage]


def bundle_shards(study: Study, benchmark: str, bundle: str, *, stage: Stage) -> tuple[Shard, ...]:
    """Return the shards of one bundle.

    Raises
    ------
    ConfigError
        When the config has no such bundle.
    """
    bundles = study_bundles(study, benchmark, stage)
    if bundle not in bundles:
        raise ConfigError(
            f"bundle {bundle!r}: {benchmark} has {len(bundles)} {stage} bundles, "
            f"0000 to {len(bundles) - 1:04d}"
        )
    return bundles[bundle]


def bundle_work(
    study: Study,
    shards: Sequence[Shard],
    *,
    journals: Path,
    task: TaskMaker[Result],
    gather: Callable[[list[Result]], Output],
    among: Container[str] | None = None,
) -> list[ShardWork[Result, Output]]:
    """Return the work of some shards of one benchmark, a coroutine for each problem.

    With ``among``, only problems with these ``problem_uid`` are worked on, and shards that
    have none of them are left out. Other journals that hold requests of a shard's problems
    are read too, so that neither another shard size nor problems that moved ask anything anew.
    """
    benchmark = shards[0].benchmark
    problems = read_problems(StudyPaths.of(study.settings.study).problems(benchmark))
    holders = journals_of_problems(journals)
    work = []
    for shard in shards:
        chosen = [
            problem
            for problem in problems[shard.start : shard.stop]
            if among is None or problem.problem_uid in among
        ]
        if chosen:
            journal = journals / f"{shard.name}.jsonl"
            uids = [problem.problem_uid for problem in chosen]
            earlier = set().union(*(holders.get(uid, ()) for uid in uids)) - {journal}
            note_problems(journal, uids)
            tasks = [task(problem) for problem in chosen]
            work.append(ShardWork(shard.name, journal, tasks, gather, tuple(sorted(earlier))))
    return work


def run_bundle(
    study: Study,
    work: Sequence[ShardWork[Result, Output]],
    *,
    models: Mapping[Role, ModelSettings],
    progress: Progress,
    elsewhere: Container[Role] = (),
) -> list[Output]:
    """Work one bundle off in one session; return what is kept of each shard, in order.

    Roles whose models are the same share one engine. The models of roles in ``elsewhere`` are
    asked by other jobs: their answers come from the journals alone.
    """
    queues: dict[Role, EngineQueue] = {}
    by_model: dict[str, EngineQueue] = {}
    for role, model in models.items():
        name = repr(model)
        if name not in by_model and role in elsewhere:
            by_model[name] = JournalQueue(model.identity(), seed=study.settings.seed)
        elif name not in by_model:
            by_model[name] = EngineQueue(
                model.identity(), partial(build_engine, model), seed=study.settings.seed
            )
        queues[role] = by_model[name]
    journal = study.settings.journal
    limits = SessionLimits(
        max_attempts=journal.max_attempts,
        drain_s=journal.drain_s,
        stale_after_s=journal.stale_after_s,
        max_outstanding=_OUTSTANDING_PER_SLOT * max(m.max_in_flight for m in models.values()),
    )
    session: Session[Result, Output] = Session(queues, limits, progress)
    outputs = session.run(work)
    return [outputs[one.name] for one in work]


def _size(study: Study) -> int:
    return study.settings.shards.problems
