"""Where a study's files lie, and how its problems are cut into shards and bundles."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Shard:
    """Problems ``start`` to ``stop - 1`` of a benchmark: the unit of work and of journal."""

    benchmark: str
    start: int
    stop: int

    @property
    def name(self) -> str:
        """Return the name of its journal: first and last problem, counted from zero."""
        return f"{self.start:05d}-{self.stop - 1:05d}"


def cut_shards(benchmark: str, problems: int, size: int) -> tuple[Shard, ...]:
    """Cut ``problems`` problems into shards of ``size``; the last may be smaller."""
    return tuple(
        Shard(benchmark, start, min(start + size, problems)) for start in range(0, problems, size)
    )


def cut_bundles(shards: tuple[Shard, ...], size: int) -> dict[str, tuple[Shard, ...]]:
    """Group shards into bundles of ``size``, by name.

    The cut depends on the config alone, never on what is unfinished, so that the
    controller and its jobs agree.
    """
    groups = (shards[start : start + size] for start in range(0, len(shards), size))
    return {f"{index:04d}": group for index, group in enumerate(groups)}


@dataclass(frozen=True, slots=True)
class StudyPaths:
    """The files of one study below ``results/<study>``."""

    folder: Path

    @classmethod
    def of(cls, study: str) -> StudyPaths:
        """Return the paths of a study in the working directory."""
        return cls(Path("results") / study)

    def problems(self, benchmark: str) -> Path:
        """Return the prepared problems of a benchmark."""
        return self.folder / "problems" / f"{benchmark}.parquet"

    def journals(self, stage: str, model: str, benchmark: str) -> Path:
        """Return the folder of a stage's journals; never a declared output."""
        return self.folder / "journal" / stage / model / benchmark

    def bundle(self, stage: str, *parts: str) -> Path:
        """Return the stem of a bundle's Parquet files."""
        return self.folder.joinpath("bundles", stage, *parts)

    def records(self) -> Path:
        """Return the folder of the five tables."""
        return self.folder / "records"
