"""The five tables of a records folder, declared as data.

A :class:`Column` says what one column holds, a :class:`Table` which columns there are and
which of them form the key. Reading, writing and checking all derive from these declarations;
further columns are allowed in every table and kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Final

from dhd.messages import FIELD_NAMES, POOL_SIZE
from dhd.problems import ANSWER_FORMATS

#: Pool sizes at which a message can be left out.
LOO_SIZES: Final = tuple(range(2, POOL_SIZE + 1))

STUDIES: Final = ("scan", "repeats", "order", "integrator_swap", "masking")
REPEATED_STUDIES: Final = STUDIES[1:]
CONDITIONS: Final = (
    "independent",
    "single",
    "full",
    "removal",
    "repeat",
    "neutral",
    "mask_answer",
    "mask_reasoning",
)
MESSAGE_STATUSES: Final = ("ok", "invalid_format", "truncated", "failed")
OUTCOME_STATUSES: Final = ("ok", "no_answer", "truncated", "failed", "unjudged")
PROTOCOLS: Final = ("direct", "iterative", "per", "broadcast")
SUBMISSION_KINDS: Final = ("proposed", "independent", "single", "full", "removal")


class Kind(Enum):
    """Type of a column."""

    #: Free text.
    TEXT = "string"
    #: Text with few distinct values: keys and enumerations; categorical in memory.
    LABEL = "string label"
    INTEGER = "integer"
    BOOLEAN = "bool"
    #: A judgement: 1, 0, or null for *not observed*.
    JUDGEMENT = "0/1"
    TEXT_LIST = "list<string>"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name, kind
        Name in the file, and type.
    nullable
        Whether null may stand in it.
    allowed
        The values that may occur, for enumerations; None where any may.
    minimum, maximum
        Bounds of an integer column, inclusive; None where there is none.
    width
        Bits of an integer as written.
    optional
        Whether the whole column may be missing from a file.
    """

    name: str
    kind: Kind
    nullable: bool = False
    allowed: tuple[str, ...] | None = None
    minimum: int | None = None
    maximum: int | None = None
    width: int = 32
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """One table: its columns in order and the names that form its key."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    optional: bool = False

    @property
    def filename(self) -> str:
        """Name of the file in the records folder."""
        return f"{self.name}.parquet"

    def column(self, name: str) -> Column:
        """Return the declaration of a column; ``KeyError`` when it is not declared."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)


def _label(name: str, allowed: tuple[str, ...] | None = None) -> Column:
    return Column(name, Kind.LABEL, allowed=allowed)


def _text(name: str, *, nullable: bool = False, optional: bool = False) -> Column:
    return Column(name, Kind.TEXT, nullable=nullable, optional=optional)


def _integer(name: str, minimum: int, maximum: int | None = None, width: int = 32) -> Column:
    return Column(name, Kind.INTEGER, minimum=minimum, maximum=maximum, width=width)


def _judgement(name: str) -> Column:
    return Column(name, Kind.JUDGEMENT, nullable=True)


PROBLEMS: Final = Table(
    "problems",
    (
        _label("problem_uid"),
        _label("benchmark"),
        Column("stratum", Kind.LABEL, nullable=True),
        _text("problem"),
        _text("reference"),
        _label("answer_format", ANSWER_FORMATS),
        Column("options", Kind.TEXT_LIST, nullable=True),
        _text("license"),
        _text("source"),
        _text("source_sha256"),
        _text("unit", nullable=True, optional=True),
    ),
    key=("problem_uid",),
)

MESSAGES: Final = Table(
    "messages",
    (
        _label("model"),
        _label("problem_uid"),
        _integer("message_index", 1, POOL_SIZE),
        _text("role_name", nullable=True),
        _text("role_lens", nullable=True),
        *(_text(name, nullable=True) for name in FIELD_NAMES),
        _text("proposed_answer_extracted", nullable=True),
        Column("rendered", Kind.BOOLEAN),
        _judgement("proposal_correct"),
        _label("status", MESSAGE_STATUSES),
    ),
    key=("model", "problem_uid", "message_index"),
)

OUTCOMES: Final = Table(
    "outcomes",
    (
        _label("study", STUDIES),
        _label("model"),
        _label("integrator"),
        _label("problem_uid"),
        _label("condition", CONDITIONS),
        _integer("k", 0, POOL_SIZE),
        _integer("message_index", 0, POOL_SIZE),
        _integer("block", 0),
        _integer("repeat", 1, 2),
        _integer("slot", 0),
        _text("answer", nullable=True),
        _judgement("correct"),
        _label("status", OUTCOME_STATUSES),
    ),
    key=(
        "study",
        "model",
        "integrator",
        "problem_uid",
        "condition",
        "k",
        "message_index",
        "block",
        "repeat",
    ),
)

EVALUATIONS: Final = Table(
    "evaluations",
    (
        _text("submission_id"),
        _label("model"),
        _label("problem_uid"),
        _label("kind", SUBMISSION_KINDS),
        _text("submitted", nullable=True),
        _label("evaluator"),
        _judgement("verdict"),
        _text("triplet_id", nullable=True),
        _label("benchmark"),
    ),
    key=("submission_id", "evaluator"),
    optional=True,
)

PROTOCOL_RUNS: Final = Table(
    "protocol_runs",
    (
        _label("protocol", PROTOCOLS),
        _label("model"),
        _label("problem_uid"),
        _text("answer", nullable=True),
        _judgement("correct"),
        _integer("prompt_tokens", 0, width=64),
        _integer("completion_tokens", 0, width=64),
        _integer("calls", 0),
    ),
    key=("protocol", "model", "problem_uid"),
    optional=True,
)

#: Every table by name, in the order in which they are read.
TABLES: Final = MappingProxyType(
    {table.name: table for table in (PROBLEMS, MESSAGES, OUTCOMES, EVALUATIONS, PROTOCOL_RUNS)}
)

#: Which conditions a study holds.
STUDY_CONDITIONS: Final = MappingProxyType(
    {
        "scan": ("independent", "single", "full", "removal"),
        "repeats": ("full", "removal"),
        "order": ("full", "removal"),
        "integrator_swap": ("full", "removal"),
        "masking": ("full", "repeat", "removal", "neutral", "mask_answer", "mask_reasoning"),
    }
)
