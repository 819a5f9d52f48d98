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

    def journals(self, stage: str, *parts: str) -> Path:
        """Return the folder of a stage's journals; never a declared output."""
        return self.folder.joinpath("journal", stage, *parts)

    def runs(self, *parts: str) -> Path:
        """Return the folder in which the processes of one bundle's job meet while it runs."""
        return self.folder.joinpath("runs", *parts)

    def status(self) -> Path:
        """Return the folder of the engines' status files."""
        return self.folder / "status"

    def staged(self, model: str) -> Path:
        """Return the note of a model's checked files."""
        return self.folder / "models" / f"{model}.json"

    def bundle(self, stage: str, *parts: str) -> Path:
        """Return the stem of a bundle's Parquet files."""
        return self.folder.joinpath("bundles", stage, *parts)

    def sample(self, study: str, model: str, benchmark: str) -> Path:
        """Return the manifest of the problems that a replay study drew from a benchmark."""
        return self.folder / "samples" / study / model / f"{benchmark}.json"

    def settings_note(self, stage: str) -> Path:
        """Return the note of what some files follow from, e.g. ``samples/repeats/oss/own``."""
        return self.folder / "settings" / f"{stage}.txt"

    def cases(self, model: str) -> Path:
        """Return the manifest of the messages that are masked, of all benchmarks."""
        return self.folder / "samples" / "masking" / f"{model}.json"

    def protocol_sample(self, benchmark: str) -> Path:
        """Return the manifest of the problems of a benchmark that the protocols run on."""
        return self.folder / "samples" / "protocols" / f"{benchmark}.json"

    def audit(self) -> Path:
        """Return the manifest of the saved answers that evaluators judge again."""
        return self.folder / "samples" / "evaluators.json"

    def records(self, part: str | None = None) -> Path:
        """Return the folder of the five tables, of the whole study or of one part alone."""
        return self.part(part) / "records"

    def tables(self, part: str | None = None) -> Path:
        """Return the folder of the paper's tables, of the whole study or of one part alone."""
        return self.part(part) / "tables"

    def part(self, part: str | None) -> Path:
        """Return the folder of the results of the whole study or of one part alone."""
        return self.folder if part is None else self.folder / "studies" / part
