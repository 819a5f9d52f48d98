"""Omni-MATH-2: open-answer olympiad mathematics with difficulty tiers."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated

from pydantic import BeforeValidator, Field

from dhd.benchmarks.files import read_rows
from dhd.benchmarks.loaded import Loaded, Loading
from dhd.benchmarks.rows import Row, Text, Trimmed, parse_row
from dhd.errors import BenchmarkError
from dhd.problems import Problem

#: Rows of the upstream file, before those with a tag are left out.
UPSTREAM_ROWS = 4428
PATTERNS = ("*.parquet", "*.jsonl", "*.json", "*/*.parquet", "*/*.jsonl", "*/*.json")


def _tag_list(tags: object) -> object:
    """Return the tags as a list; upstream formats write no tag as [], null or an empty text."""
    if tags is None:
        return []
    if isinstance(tags, str):
        return [] if tags.strip() in ("", "[]") else [tags]
    return tags


class _Tags(Row):
    tags: Annotated[list[str], BeforeValidator(_tag_list)]


class _Problem(Row):
    difficulty: Annotated[float, Field(allow_inf_nan=False)]
    problem: Text
    answer: Trimmed


def difficulty_tier(difficulty: float) -> int:
    """Return the tier of a difficulty: rounded half up, clamped to 1…10."""
    rounded = Decimal(str(difficulty)).quantize(Decimal(1), rounding=ROUND_HALF_UP)
    return min(max(int(rounded), 1), 10)


def load_omni_math_2(loading: Loading) -> Loaded:
    """Load Omni-MATH-2: rows without a tag, in upstream order.

    Tagged rows (proofs, estimates, missing images) have no exact answer to compare with.
    The uid's number is the row among all rows, tagged ones included.
    """
    file = loading.source.read(PATTERNS)
    rows = read_rows(file)
    if len(rows) != UPSTREAM_ROWS and not loading.is_variant:
        raise BenchmarkError(
            f"{file.path}: found {len(rows)} rows, expected {UPSTREAM_ROWS} "
            "(other editions of Omni-MATH have other rows)"
        )
    loaded = Loaded()
    for number, value in enumerate(rows):
        where = f"{file.path}: row {number}"
        if parse_row(_Tags, value, where).tags:
            continue
        row = parse_row(_Problem, value, where)
        tier = f"t{difficulty_tier(row.difficulty)}"
        loaded.problems.append(
            Problem(
                problem_uid=f"omni2:{tier}:{number:04d}",
                benchmark=loading.key,
                problem=row.problem,
                reference=row.answer,
                answer_format="math",
                stratum=tier,
                license=loading.license,
                source=f"{file.name} row {number}",
                source_sha256=file.sha256,
            )
        )
    loaded.notes.append(
        f"{len(rows) - len(loaded.problems)} of {len(rows)} rows have a tag: left out"
    )
    return loaded
