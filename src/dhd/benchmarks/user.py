"""A user's own benchmark: one JSON object a line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Self

from pydantic import Field, ValidationError, model_validator

from dhd.answers.ranges import parse_targets
from dhd.benchmarks.files import Source, SourceFile, decode, text_lines
from dhd.benchmarks.loaded import Loaded, Loading
from dhd.benchmarks.rows import Text, Trimmed, describe
from dhd.config.strict import Strict
from dhd.errors import BenchmarkError
from dhd.problems import AnswerFormat, Problem

PATTERNS = ("*.jsonl",)
#: Most bad lines that an error names.
_SHOWN = 20
#: How a reference may write its option letters: B, B OR D (either) · BD, B,D, B; D (both).
_LETTERS = {
    "choice": re.compile(r"[A-Z](?: OR [A-Z])*"),
    "multi_choice": re.compile(r"[A-Z](?:[,;]? ?[A-Z])*"),
}


class UserRow(Strict):
    """One line of a user's JSONL.

    ``options`` are the option texts A, B, C, … that are shown after the problem; the
    reference of a choice problem is the letter, or letters, of what is right.
    """

    problem_id: Trimmed
    problem: Text
    reference: Trimmed
    answer_format: AnswerFormat
    options: tuple[Trimmed, ...] | None = Field(None, min_length=2, max_length=26)
    stratum: Trimmed | None = None
    unit: Trimmed | None = None
    license: str = "unspecified"
    source: str = ""

    @model_validator(mode="after")
    def _letters_exist(self) -> Self:
        pattern = _LETTERS.get(self.answer_format)
        if pattern is None:
            return self
        letters = ascii_uppercase[: len(self.options)] if self.options else ascii_uppercase
        named = set(re.findall(r"[A-Z]", self.reference.replace(" OR ", " ")))
        if not pattern.fullmatch(self.reference) or not named <= set(letters):
            raise ValueError(
                f"reference of a {self.answer_format} problem must be option letters "
                f"among {letters[0]}…{letters[-1]}, not {self.reference!r}"
            )
        return self

    @model_validator(mode="after")
    def _number_is_one(self) -> Self:
        if self.answer_format not in ("integer", "numeric"):
            return self
        targets = parse_targets(self.reference)
        whole = [one for one in targets if not one.is_range and one.low.denominator == 1]
        if self.answer_format == "integer" and len(targets) == len(whole) == 1:
            return self
        if self.answer_format == "numeric" and targets:
            return self
        expected = {"integer": "one integer", "numeric": "a number, a range or alternatives"}
        raise ValueError(
            f"reference of a problem of format {self.answer_format} must be "
            f"{expected[self.answer_format]}, not {self.reference!r}"
        )


def load_user(loading: Loading) -> Loaded:
    """Load a user's JSONL; the uid is ``<benchmark key>:<problem_id>``.

    Unknown keys are refused; an error names file, line and key of the first bad lines.
    """
    file = loading.source.read(PATTERNS)
    loaded = Loaded()
    lines: dict[str, int] = {}
    faults: list[str] = []
    for number, line in text_lines(decode(file)):
        try:
            row = _parse(line, number, lines)
        except BenchmarkError as error:
            faults.append(f"{file.path}:{number}: {error}")
            continue
        loaded.problems.append(_problem(row, number, file, loading.key))
    if faults:
        raise BenchmarkError(_faults_text(faults))
    return loaded


def _parse(line: str, number: int, lines: dict[str, int]) -> UserRow:
    """Return a line's row; ``lines`` says where each id was first."""
    try:
        row = UserRow.model_validate_json(line)
    except ValidationError as error:
        raise BenchmarkError(describe(error, line)) from error
    first = lines.setdefault(row.problem_id, number)
    if first != number:
        raise BenchmarkError(
            f"problem_id: found {row.problem_id!r} again, first on line {first}; expected "
            "unique ids"
        )
    return row


def _problem(row: UserRow, number: int, file: SourceFile, key: str) -> Problem:
    return Problem(
        problem_uid=f"{key}:{row.problem_id}",
        benchmark=key,
        problem=row.problem,
        reference=row.reference,
        answer_format=row.answer_format,
        options=row.options,
        stratum=row.stratum,
        unit=row.unit,
        license=row.license,
        source=row.source or f"{file.name} line {number}",
        source_sha256=file.sha256,
    )


def _faults_text(faults: Sequence[str]) -> str:
    """Return one message: a single fault in its line, several below their number."""
    if len(faults) == 1:
        return faults[0]
    shown = [f"\n  {fault}" for fault in faults[:_SHOWN]]
    if len(faults) > _SHOWN:
        shown.append(f"\n  and {len(faults) - _SHOWN} more")
    return f"{len(faults)} lines to mend:{''.join(shown)}"


def count_user(source: Source) -> int:
    """Return how many problems a JSONL has, without parsing them."""
    return len(text_lines(decode(source.read(PATTERNS))))
