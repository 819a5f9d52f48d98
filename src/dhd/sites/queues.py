"""The rules of a machine's queues, as ``queues.yaml`` beside a site file states them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Literal

from pydantic import Field, model_validator

from dhd.config.strict import Strict
from dhd.sites.times import Walltime, minutes_of


class SizeRule(Strict):
    """Sizes that a queue takes, and for how long; a routing queue has several of these."""

    min: int = Field(gt=0, description="Smallest job, in the queue's unit.")
    max: int = Field(gt=0, description="Largest job, in the queue's unit.")
    max_walltime: Walltime = Field(description="Longest walltime of these sizes, HH:MM:SS.")

    @model_validator(mode="after")
    def _ordered(self) -> SizeRule:
        if self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}")
        return self


class QueueRules(Strict):
    """What one queue accepts."""

    unit: Literal["nodes", "gpus"] = Field("nodes", description="What `select` counts.")
    sizes: list[SizeRule] = Field(min_length=1, description="Sizes it takes, and for how long.")
    counts: list[int] | None = Field(
        None, description="The only sizes that are valid; null: all between."
    )
    min_walltime: Walltime = Field("00:05:00", description="Shortest walltime, HH:MM:SS.")
    max_submitted: int | None = Field(
        None, gt=0, description="Most jobs queued or running; null: no limit."
    )
    max_running: int | None = Field(None, gt=0, description="Most jobs running; null: no limit.")
    limit_is_per: Literal["user", "project"] = Field(
        "project", description="Whose jobs the two limits count."
    )
    gpu_memory_gb: int | None = Field(
        None, gt=0, description="Memory of one GPU, in GB; null: as the site file says."
    )

    def faults(self, size: int, walltime: str) -> Iterator[str]:
        """Yield the rules that a job of this size and walltime breaks, each with what fits."""
        if self.counts is not None and size not in self.counts:
            yield f"takes {_listed(self.counts)} {self.unit}, not {size}"
            return
        lowest, highest = self.sizes[0].min, max(one.max for one in self.sizes)
        fitting = [one for one in self.sizes if one.min <= size <= one.max]
        if not fitting:
            yield f"takes {self._number(lowest, highest)}, not {size}"
            return
        longest = max((one.max_walltime for one in fitting), key=minutes_of)
        if minutes_of(walltime) > minutes_of(longest):
            larger = [
                f"{one.max_walltime} from {self._number(one.min)} on"
                for one in self.sizes
                if minutes_of(one.max_walltime) > minutes_of(longest)
            ]
            yield (
                f"takes jobs of {self._number(size)} for at most {longest}, not {walltime}"
                + (f" ({'; '.join(larger)})" if larger else "")
            )
        if minutes_of(walltime) < minutes_of(self.min_walltime):
            yield f"takes jobs of at least {self.min_walltime}, not {walltime}"

    def _number(self, lowest: int, highest: int | None = None) -> str:
        """Return a size, or a range of them, with its unit: ``1 node``, ``1 to 2 nodes``."""
        if highest in (None, lowest):
            return f"{lowest} {self.unit if lowest != 1 else self.unit.removesuffix('s')}"
        return f"{lowest} to {highest} {self.unit}"

    def at_least(self, size: int, walltime: str) -> int:
        """Return the smallest size, not below ``size``, that may run for this walltime.

        ``size`` itself where the queue takes no such job.
        """
        minutes = minutes_of(walltime)
        fitting = [one for one in self.sizes if minutes_of(one.max_walltime) >= minutes]
        larger = [max(size, one.min) for one in fitting if size <= one.max]
        if self.counts is not None:
            larger = [count for count in self.counts if count >= size]
        return min(larger, default=size)

    def takes(self, size: int, walltime: str) -> bool:
        """Return whether a job of this size and walltime breaks no rule."""
        return not any(self.faults(size, walltime))


class Machine(Strict):
    """A machine's queues."""

    name: str = Field(min_length=1, description="Its name, for messages.")
    select: str = Field("", description="What follows the count in PBS's select, e.g. system=x.")
    gpus_per_node: int | None = Field(None, gt=0, description="GPUs of a node; null: not checked.")
    needs_filesystems: bool = Field(
        False, description="Whether a job has to name the file systems that it needs."
    )
    source: str = Field(description="Where the rules are published.")
    checked: date = Field(description="When they were read there.")
    queues: dict[str, QueueRules] = Field(min_length=1, description="Rules by queue.")


def _listed(counts: list[int]) -> str:
    *most, last = map(str, counts)
    return f"{', '.join(most)} or {last}" if most else last
