"""What engine processes did and do: GPU-hours, and their pace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dhd.status.plan import StudyPlan

_HOUR_S = 3600.0


@dataclass(slots=True)
class EngineUse:
    """What the engine processes of one stage or model did.

    Attributes
    ----------
    seconds
        Time that engines were up, loading included.
    gpu_seconds
        The same times each engine's GPUs.
    answered
        Requests that they answered.
    """

    seconds: float = 0.0
    gpu_seconds: float = 0.0
    answered: int = 0

    @property
    def gpu_hours(self) -> float:
        """Return GPU-hours."""
        return self.gpu_seconds / _HOUR_S

    def add(self, engine: Mapping[str, Any]) -> None:
        """Count one engine process."""
        seconds = max(0.0, _number(engine, "updated") - _number(engine, "begun"))
        self.seconds += seconds
        self.gpu_seconds += seconds * _number(engine, "gpus")
        self.answered += int(_number(engine, "answered"))


@dataclass(slots=True)
class Engines:
    """All engine processes of a study.

    Attributes
    ----------
    by_group, by_model
        What they did for each group of stages and, whatever the stage, with each model.
    running
        Those that are up now.
    """

    by_group: dict[str, EngineUse] = field(default_factory=dict)
    by_model: dict[str, EngineUse] = field(default_factory=dict)
    running: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def gpus(self) -> int:
        """Return the GPUs of the engines that are up now."""
        return sum(int(_number(engine, "gpus")) for engine in self.running)

    @property
    def hosts(self) -> list[str]:
        """Return the nodes that engines are up on."""
        return sorted({str(engine.get("host", "?")) for engine in self.running})

    def pace(self, group: str, model: str) -> EngineUse | None:
        """Return what tells the pace of a group: its own engines, else others of its model."""
        for use in (self.by_group.get(group), self.by_model.get(model)):
            if use is not None and use.answered:
                return use
        return None


def count_engines(
    plan: StudyPlan, documents: Iterable[Mapping[str, Any]], now: float, stale_after_s: float
) -> Engines:
    """Sum up the documents of engine processes.

    A process that was killed says that it is up; it counts as such no longer when its document
    is older than ``stale_after_s``.
    """
    groups = {stage.label: stage for stage in plan.stages}
    engines = Engines()
    for document in documents:
        stage = groups.get(str(document.get("stage")).partition("/turn-")[0])
        if stage is not None:
            engines.by_group.setdefault(stage.group, EngineUse()).add(document)
        engines.by_model.setdefault(str(document.get("model")), EngineUse()).add(document)
        is_fresh = _number(document, "updated") >= now - stale_after_s
        if is_fresh and document.get("ended") is not True:
            engines.running.append(document)
    return engines


def _number(document: Mapping[str, Any], key: str) -> float:
    value = document.get(key)
    return float(value) if isinstance(value, (int, float)) else 0.0
