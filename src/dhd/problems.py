"""The problem: one benchmark item, as every stage sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

AnswerFormat = Literal["math", "choice", "multi_choice", "integer", "numeric", "matching", "text"]
ANSWER_FORMATS: tuple[AnswerFormat, ...] = get_args(AnswerFormat)


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a benchmark; the columns of ``problems.parquet``.

    Attributes
    ----------
    problem_uid
        Stable identifier, unique in a study, e.g. ``omni2:t4:0291``.
    benchmark
        Key of the benchmark in the config, e.g. ``omni_math_2``.
    problem
        Text shown to the solver (evidence included).
    reference
        Evaluator-only ground truth; never part of a solver's prompt.
    answer_format
        How an answer is given and compared.
    options
        Option texts in the shown order (A, B, C, …), or None.
    stratum
        Tier, type or subtask inside the benchmark, or None.
    unit
        Unit of a numeric answer, which may carry a power of ten, or None.
    license, source, source_sha256
        Upstream licence, where the row came from, checksum of the source file.
    """

    problem_uid: str
    benchmark: str
    problem: str
    reference: str
    answer_format: AnswerFormat
    options: tuple[str, ...] | None = None
    stratum: str | None = None
    unit: str | None = None
    license: str = ""
    source: str = ""
    source_sha256: str = ""
