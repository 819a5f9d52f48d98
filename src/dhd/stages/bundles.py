"""How a study is cut into bundles, and the work of their shards."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, Literal, get_args

from dhd.benchmarks import problem_count
from dhd.config.load import Study
from dhd.driver import ShardWork
from dhd.driver.work import Output, Result
from dhd.errors import ConfigError, RecordsError
from dhd.journal.holders import journals_of_problems, note_problems
from dhd.layout import Shard, StudyPaths, cut_bundles, cut_shards
from dhd.problems import Problem
from dhd.requests import Generate
from dhd.stages.absent import absent_fault, local_path
from dhd.stages.prepare import read_problems

Stage = Literal["deliberation", "judging", "replays", "protocols"]
STAGES: tuple[Stage, ...] = get_args(Stage)
#: Most problems that a message names.
_SHOWN: Final = 5
#: Makes the coroutine function that works on one problem.
TaskMaker = Callable[[Problem], Callable[[Generate], Awaitable[Result]]]


@dataclass(frozen=True, slots=True)
class ProblemWork(Generic[Result, Output]):
    """What is done with every problem of a shard.

    Attributes
    ----------
    task
        Makes the coroutine function that works on a problem.
    gather
        Turns the results of a shard's problems into what is kept of it.
    calls
        Returns how many requests a problem is expected to need.
    """

    task: TaskMaker[Result]
    gather: Callable[[list[Result]], Output]
    calls: Callable[[Problem], int]


def study_bundles(study: Study, benchmark: str, stage: Stage) -> dict[str, tuple[Shard, ...]]:
    """Return the bundles of a benchmark by name; known from the config alone.

    Raises
    ------
    ConfigError
        When a local benchmark is not where the config says.
    """
    settings = study.settings
    entry = settings.benchmarks[benchmark]
    path = local_path(study, benchmark)
    if path is not None and not path.exists():
        raise ConfigError(absent_fault(study, benchmark))
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
    each: ProblemWork[Result, Output],
    *,
    journals: Path,
    among: Collection[str] | None = None,
    manifest: Path | None = None,
) -> list[ShardWork[Result, Output]]:
    """Return the work of some shards of one benchmark, a coroutine for each problem.

    With ``among``, only problems with these ``problem_uid`` are worked on, and shards that
    have none of them are left out; ``manifest`` is the sample that they come from. Other
    journals that hold requests of a shard's problems are read too, so that neither another
    shard size nor problems that moved ask anything anew.

    Raises
    ------
    RecordsError
        When the sample has problems that the benchmark no longer has.
    """
    benchmark = shards[0].benchmark
    problems = read_problems(StudyPaths.of(study.settings.study).problems(benchmark))
    if manifest is not None:
        _require(among or (), problems, manifest)
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
            earlier = set().union(*(holders.of(uid) for uid in uids)) - {journal}
            if any(journal not in holders.of(uid) for uid in uids):
                note_problems(journal, uids)
            work.append(
                ShardWork(
                    shard.name,
                    journal,
                    [each.task(problem) for problem in chosen],
                    each.gather,
                    earlier=tuple(sorted(earlier)),
                    expected=sum(map(each.calls, chosen)),
                )
            )
    return work


def _require(sampled: Iterable[str], problems: Iterable[Problem], manifest: Path) -> None:
    """Raise when a sample has problems that are not among those of its benchmark."""
    known = {problem.problem_uid for problem in problems}
    gone = sorted(set(sampled) - known)
    if gone:
        shown = ", ".join(map(repr, gone[:_SHOWN])) + (", …" if len(gone) > _SHOWN else "")
        raise RecordsError(
            f"{manifest}: {len(gone)} sampled problem(s) are no longer among the benchmark's: "
            f"{shown}; put them back, or delete the study's samples folder and run again"
        )
