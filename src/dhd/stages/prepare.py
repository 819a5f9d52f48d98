"""Benchmark files → the problems of a study."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

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
    frame = read_table("problems", path)
    columns = [frame[name].astype(object) for name in Problem.__dataclass_fields__]
    return tuple(_problem(values) for values in zip(*columns, strict=True))


def _problem(values: tuple[Any, ...]) -> Problem:
    named = dict(zip(Problem.__dataclass_fields__, map(_plain, values), strict=True))
    return Problem(**named)


def _plain(value: Any) -> Any:
    """Return a cell as `Problem` holds it: None where nothing is, a tuple for a list."""
    if isinstance(value, np.ndarray):
        return tuple(value)
    return None if pd.isna(value) else value
