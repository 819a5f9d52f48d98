"""What one scheduler job does: the work of a bundle, who answers, and what is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol

from dhd.config.load import Study
from dhd.config.models import ModelSettings
from dhd.driver import ShardWork
from dhd.driver.work import Output, Result
from dhd.requests import Role


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class BundleJob(Generic[Result, Output]):
    """The prepared work of one bundle.

    Attributes
    ----------
    stage
        Folder of the bundle's files below the study's bundles, e.g. ``deliberation/oss/jeebench``.
    bundle
        Its name within the stage.
    verb
        What is done, for progress lines, e.g. ``deliberate``.
    work
        Its shards.
    models
        The model that answers each role; roles whose models are the same share one engine.
    write
        Writes what was kept of each shard, in the order of ``work``.
    elsewhere
        Roles whose models are asked by other jobs: their answers come from the journals alone.
    handover
        What a worker needs that would take long to compute again.
    close
        Releases what the tasks use.
    """

    stage: str
    bundle: str
    verb: str
    work: Sequence[ShardWork[Result, Output]]
    models: Mapping[Role, ModelSettings]
    write: Callable[[list[Output]], None]
    elsewhere: frozenset[Role] = frozenset()
    handover: bytes = b""
    close: Callable[[], None] = _nothing

    @property
    def label(self) -> str:
        """Return its name in messages."""
        _, _, where = self.stage.partition("/")
        return f"{self.verb} {where}/{self.bundle}"

    @property
    def asked(self) -> list[ModelSettings]:
        """Return the models that this job asks, each once."""
        asked = [model for role, model in self.models.items() if role not in self.elsewhere]
        return list({repr(model): model for model in asked}.values())

    @property
    def expected(self) -> int:
        """Return how many requests all shards are expected to need."""
        return sum(one.expected or 0 for one in self.work)


class BundleSpec(Protocol):
    """Which bundle of which stage is meant, in plain values that fit into a file."""

    def prepare(self, study: Study, handover: bytes | None = None) -> BundleJob[Any, Any]:
        """Prepare the bundle's work; with ``handover``, as a worker of its job."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """What the scheduler gave a job.

    Attributes
    ----------
    nodes
        Nodes that it may use.
    deadline
        Time, in seconds since the epoch, by which everything has to be written; None where
        the job has no walltime.
    settings
        Digest of the settings that the work follows from.
    log
        Log of the job; its workers' logs lie beside it. None where they share its output.
    """

    nodes: int = 1
    deadline: float | None = None
    settings: str = ""
    log: Path | None = None
