"""Counting shards, requests and tokens of each stage from plan and files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dhd.status.files import ShardFiles, list_names, read_shards
from dhd.status.plan import BundlePlan, StagePlan, StudyPlan

_EMPTY = ShardFiles({}, None, is_noted=False)


@dataclass(slots=True)
class Progress:
    """How far one line of the report is.

    Attributes
    ----------
    done, running, waiting
        Shards that are finished, that a job works on now, and all others.
    answered
        Requests with an answer in the journals.
    failed
        Requests whose last state is a failure, by reason.
    prompt_tokens, cached_tokens, completion_tokens
        Tokens of all answers; cached prompt tokens are among the prompt tokens.
    problems_worked
        Problems finished, counting those of shards in work by their requests' share.
    problems_left
        Problems still to work on; None where their number is not known.
    requests_per_problem
        Planned, else measured on what is there; None before anything is.
    """

    done: int = 0
    running: int = 0
    waiting: int = 0
    answered: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    problems_worked: float = 0.0
    problems_left: float | None = 0.0
    requests_per_problem: float | None = None

    @property
    def shards(self) -> int:
        """Return all shards."""
        return self.done + self.running + self.waiting

    @property
    def requests_left(self) -> float | None:
        """Return about how many requests are still to ask; None while that is not known."""
        if self.done == self.shards:
            return 0.0
        if self.problems_left is None or self.requests_per_problem is None:
            return None
        return self.problems_left * self.requests_per_problem


def count_progress(plan: StudyPlan, folder: Path, now: float) -> dict[str, Progress]:
    """Return the progress of each group of stages, in the order of the plan.

    Parameters
    ----------
    plan
        The study's plan.
    folder
        The study's folder.
    now
        Seconds since the epoch.
    """
    journals = read_shards(folder / stage.journals for stage in plan.stages)
    places = {
        output.rpartition("/")[0]
        for stage in plan.stages
        for bundle in stage.bundles
        for output in bundle.outputs
    }
    listed = list_names(folder / place for place in places)
    written = _Written({place: listed[folder / place] for place in places})
    groups: dict[str, Progress] = {}
    counted: set[Path] = set()
    for stage in plan.stages:
        group = groups.setdefault(stage.group, Progress())
        shards = journals[folder / stage.journals]
        if folder / stage.journals not in counted:  # several parts may share their journals
            counted.add(folder / stage.journals)
            for files in shards.values():
                _add_requests(group, files.status)
        _count_stage(group, stage, shards, written, now - plan.stale_after_s)
    for name, group in groups.items():
        group.requests_per_problem = _requests_per_problem(plan, name, group)
    return groups


@dataclass(frozen=True, slots=True)
class _Written:
    """Which bundles have all their files."""

    names: Mapping[str, frozenset[str]]

    def has(self, bundle: BundlePlan) -> bool:
        places = (output.rpartition("/") for output in bundle.outputs)
        return all(name in self.names[folder] for folder, _, name in places)


def _count_stage(
    group: Progress,
    stage: StagePlan,
    shards: Mapping[str, ShardFiles],
    written: _Written,
    stale_before: float,
) -> None:
    worked = 0.0
    all_done = True
    for bundle in stage.bundles:
        is_written = written.has(bundle)
        found = {name: shards.get(name, _EMPTY) for name in bundle.shards}
        is_begun = any(files.is_noted for files in found.values())
        for name, files in found.items():
            if stage.sampled and is_begun and not files.is_noted:
                continue  # no problem of the sample is in this shard
            status = files.status if _stage_of(stage, files) == stage.label else {}
            size = _size(stage, name, status)
            if _is_done(stage, status, is_written=is_written):
                group.done += 1
                worked += size
                continue
            all_done = False
            is_running = _is_running(stage, files, stale_before)
            group.running += is_running
            group.waiting += not is_running
            worked += _share(status) * size
    group.problems_worked += worked
    if not all_done:
        _add_left(group, stage, worked)


def _add_left(group: Progress, stage: StagePlan, worked: float) -> None:
    if stage.problems is None or group.problems_left is None:
        group.problems_left = None
    else:
        group.problems_left += max(0.0, stage.problems - worked)


def _stage_of(stage: StagePlan, files: ShardFiles) -> str:
    """Return whose the last status is: parts of a study may share their journals."""
    return str(files.status.get("stage", stage.label))


def _is_done(stage: StagePlan, status: Mapping[str, Any], *, is_written: bool) -> bool:
    """Return whether a shard is finished under the settings of the plan.

    Without a status of this stage the bundle's files decide: where rules judge, nothing is
    asked and no status written.
    """
    if not status:
        return is_written
    return status.get("state") == "done" and status.get("settings") in (None, "", stage.settings)


def _is_running(stage: StagePlan, files: ShardFiles, stale_before: float) -> bool:
    if files.beat is None or files.beat < stale_before:
        return False
    whose = _stage_of(stage, files)
    return whose == stage.label or whose.startswith(f"{stage.label}/")


def _size(stage: StagePlan, name: str, status: Mapping[str, Any]) -> float:
    """Return how many problems of a shard are worked on: as its job said, else all of it."""
    problems = status.get("problems")
    if isinstance(problems, int):
        return problems
    if stage.sampled:
        return 0
    first, _, last = name.partition("-")
    return int(last) - int(first) + 1


def _share(status: Mapping[str, Any]) -> float:
    """Return which share of a shard's requests is answered."""
    expected, answered = _number(status, "expected"), _number(status, "answered")
    problems = _number(status, "problems")
    by_problems = _number(status, "problems_done") / problems if problems else 0.0
    return min(1.0, max(by_problems, answered / expected if expected else 0.0))


def _add_requests(group: Progress, status: Mapping[str, Any]) -> None:
    group.answered += int(_number(status, "answered"))
    group.prompt_tokens += int(_number(status, "prompt_tokens"))
    group.cached_tokens += int(_number(status, "cached_tokens"))
    group.completion_tokens += int(_number(status, "completion_tokens"))
    failed = status.get("failed")
    if isinstance(failed, dict):
        group.failed.update({str(reason): int(n) for reason, n in failed.items()})


def _number(status: Mapping[str, Any], key: str) -> float:
    value = status.get(key)
    return value if isinstance(value, (int, float)) else 0.0


def _requests_per_problem(plan: StudyPlan, name: str, group: Progress) -> float | None:
    planned = [
        (stage.problems, stage.requests_per_problem)
        for stage in plan.stages
        if stage.group == name and stage.problems and stage.requests_per_problem is not None
    ]
    if planned:
        total = sum(problems for problems, _ in planned)
        return sum(problems * each for problems, each in planned) / total
    if group.problems_worked > 0 and group.answered:
        return group.answered / group.problems_worked
    return None
