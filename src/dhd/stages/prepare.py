"""Benchmark files → the problems of a study."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from dhd.benchmarks import load_benchmark
from dhd.config.load import Study
from dhd.problems import Problem
from dhd.records import read_table, write_table


def prepare_problems(study: Study, benchmark: str, source: Path, out: Path) -> tuple[str, ...]:
    """Load one benchmark and write its problems; return the loader's notes for the log.

    Raises
    ------
    BenchmarkError
        When the file is not what the loader expects.
    """
    loaded = load_benchmark(benchmark, study.settings.benchmarks[benchmark], source)
    rows = [asdict(problem) for problem in loaded.problems]
    for row in rows:
        row["options"] = None if row["options"] is None else list(row["options"])
    write_table("problems", rows, out)
    return loaded.notes


def read_problems(path: Path) -> tuple[Problem, ...]:
    """Return the problems of one prepared benchmark, in their stable order."""
    frame = read_table("problems", path).astype(object)
    columns = Problem.__dataclass_fields__
    rows: Iterable[dict[str, object]] = frame[list(columns)].to_dict("records")
    return tuple(_problem(row) for row in rows)


def _problem(row: dict[str, object]) -> Problem:
    values = {name: None if _is_missing(value) else value for name, value in row.items()}
    options = values["options"]
    values["options"] = None if options is None else tuple(options)  # type: ignore[arg-type]
    return Problem(**values)  # type: ignore[arg-type]


def _is_missing(value: object) -> bool:
    return value is None or value != value
