"""JEEBench: entrance-exam problems in four answer formats."""

from __future__ import annotations

import re
from typing import Literal

from dhd.benchmarks.files import parse_json
from dhd.benchmarks.loaded import Loaded, Loading, note
from dhd.benchmarks.options import LINE_MARKER, UNCERTAIN_OPTIONS, parse_options
from dhd.benchmarks.rows import Row, Text, Trimmed, parse_row
from dhd.errors import BenchmarkError
from dhd.problems import AnswerFormat, Problem

JeeType = Literal["MCQ", "MCQ(multiple)", "Integer", "Numeric"]
PATTERNS = ("dataset.json", "data/dataset.json")

#: Answer format of each type, and what its reference looks like.
_FORMATS: dict[JeeType, tuple[AnswerFormat, re.Pattern[str]]] = {
    "MCQ": ("choice", re.compile(r"[A-D]")),
    "MCQ(multiple)": ("multi_choice", re.compile(r"[A-D]{1,4}")),
    "Integer": ("integer", re.compile(r"[+-]?\d+")),
    "Numeric": ("numeric", re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")),
}


class _Row(Row):
    description: Trimmed
    index: int
    type: JeeType
    question: Text
    gold: Trimmed


def load_jeebench(loading: Loading) -> Loaded:
    """Load JEEBench; the type decides the answer format and is the stratum.

    Options are part of the question's text, which is kept whole. Where the text ends in
    four options at line starts they are also given as ``options``; elsewhere that is None
    and an answer is compared by its letters alone.
    """
    file = loading.source.read(PATTERNS)
    values = parse_json(file)
    if not isinstance(values, list):
        raise BenchmarkError(f"{file.path}: found {type(values).__name__}, expected a JSON array")
    loaded = Loaded()
    without_options = []
    for number, value in enumerate(values):
        row = parse_row(_Row, value, f"{file.path}: row {number}")
        problem = _problem(row, loading, f"{file.name} row {number}", file.sha256)
        loaded.problems.append(problem)
        if row.type.startswith("MCQ") and problem.options is None:
            without_options.append(problem.problem_uid)
    if without_options:
        loaded.notes.append(note(UNCERTAIN_OPTIONS, without_options))
    return loaded


def _problem(row: _Row, loading: Loading, source: str, sha256: str) -> Problem:
    answer_format, shape = _FORMATS[row.type]
    if not shape.fullmatch(row.gold):
        raise BenchmarkError(
            f"{loading.source.path}: {source}: gold: found {row.gold!r}, "
            f"expected {shape.pattern} for type {row.type}"
        )
    is_choice = answer_format in ("choice", "multi_choice")
    return Problem(
        problem_uid=f"jeebench:{row.description}:{row.index}",
        benchmark=loading.key,
        problem=row.question,
        reference=row.gold,
        answer_format=answer_format,
        options=parse_options(row.question, LINE_MARKER) if is_choice else None,
        stratum=row.type,
        license=loading.license,
        source=source,
        source_sha256=sha256,
    )
