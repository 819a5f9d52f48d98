"""SciBench: college science with one number as the answer."""

from __future__ import annotations

import hashlib
from collections import Counter

from dhd.benchmarks.files import SourceFile, parse_json
from dhd.benchmarks.loaded import Loaded, Loading, note
from dhd.benchmarks.rows import Row, Text, Trimmed, parse_row
from dhd.errors import BenchmarkError
from dhd.problems import Problem

PATTERNS = ("*.json", "dataset/original/*.json", "original/*.json")


class _Row(Row):
    problem_text: Text
    answer_number: Trimmed
    unit: str
    source: Trimmed
    problemid: Trimmed


def load_scibench(loading: Loading) -> Loaded:
    """Load SciBench: the files of ``dataset/original`` by name, without ``*_sol.json``.

    The reference is ``answer_number``; the unit field, which may carry a power of ten, is
    the problem's unit. Rows that share source and id get, all of them, the first 8 hex
    digits of the sha256 of their problem text as upstream has it.
    """
    rows: list[tuple[_Row, SourceFile, int]] = []
    for file in loading.source.read_all(PATTERNS, without="*_sol.json"):
        rows += [(row, file, number) for number, row in enumerate(_rows(file))]
    uses = Counter((row.source, row.problemid) for row, _, _ in rows)
    loaded = Loaded()
    for row, file, number in rows:
        uid = f"scibench:{row.source}:{row.problemid}"
        if uses[row.source, row.problemid] > 1:
            uid += ":" + hashlib.sha256(row.problem_text.encode()).hexdigest()[:8]
        loaded.problems.append(
            Problem(
                problem_uid=uid,
                benchmark=loading.key,
                problem=row.problem_text,
                reference=row.answer_number,
                answer_format="numeric",
                unit=row.unit.strip() or None,
                license=loading.license,
                source=f"{file.name} row {number}",
                source_sha256=file.sha256,
            )
        )
    reused = [f"{source} {name}" for (source, name), times in uses.items() if times > 1]
    if reused:
        loaded.notes.append(note("reused ids told apart by their text", reused))
    return loaded


def _rows(file: SourceFile) -> list[_Row]:
    values = parse_json(file)
    if not isinstance(values, list):
        raise BenchmarkError(f"{file.path}: found {type(values).__name__}, expected a JSON array")
    return [
        parse_row(_Row, value, f"{file.path}: row {number}") for number, value in enumerate(values)
    ]
