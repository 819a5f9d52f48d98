"""Tables between the stages: what a bundle's job hands to the next, checked both ways."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dhd.deliberation import OutcomeRow
from dhd.errors import RecordsError
from dhd.files import replacing
from dhd.records import TABLES
from dhd.records.tables import arrow_type
from dhd.requests import Completion

_CALL = (
    ("request_key", pa.string()),
    ("answered_by", pa.string()),
    ("finish_reason", pa.string()),
    ("prompt_tokens", pa.int64()),
    ("cached_tokens", pa.int64()),
    ("completion_tokens", pa.int64()),
)


def _unjudged(table: str, verdict: str) -> pa.Schema:
    columns = [
        (column.name, arrow_type(column))
        for column in TABLES[table].columns
        if column.name != verdict
    ]
    return pa.schema([*columns, ("reason", pa.string()), *_CALL])


#: Messages and outcomes as deliberation leaves them, and the judgements that complete them.
SCHEMAS: Mapping[str, pa.Schema] = {
    "messages": _unjudged("messages", "proposal_correct"),
    "outcomes": _unjudged("outcomes", "correct"),
    "judgements": pa.schema(
        [
            ("problem_uid", pa.string()),
            ("answer", pa.string()),
            ("cell", pa.string()),
            ("correct", pa.int8()),
            ("judged_by", pa.string()),
            ("reason", pa.string()),
            *_CALL,
        ]
    ),
}


def call_columns(completion: Completion | None) -> dict[str, Any]:
    """Return the columns that say which model call a row came from."""
    if completion is None:
        return dict.fromkeys(name for name, _ in _CALL)
    return {
        "request_key": completion.key,
        "answered_by": completion.answered_by,
        "finish_reason": completion.finish_reason,
        "prompt_tokens": completion.prompt_tokens,
        "cached_tokens": completion.cached_tokens,
        "completion_tokens": completion.completion_tokens,
    }


def outcome_row(
    model: str, integrator: str, problem_uid: str, outcome: OutcomeRow
) -> dict[str, Any]:
    """Return the row of one integrator call: pools of ``model``, calls of ``integrator``."""
    cell = outcome.cell
    return {
        "study": cell.study,
        "model": model,
        "integrator": integrator,
        "problem_uid": problem_uid,
        "condition": cell.condition,
        "k": cell.k,
        "message_index": cell.message_index,
        "block": cell.block,
        "repeat": cell.repeat,
        "slot": cell.slot,
        "answer": outcome.answer,
        "status": outcome.status,
        "reason": outcome.reason,
        **call_columns(outcome.completion),
    }


def interim_table(name: str, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Return rows as a table of the kind ``name``."""
    return pa.Table.from_pylist(list(rows), schema=SCHEMAS[name])


def write_interim(name: str, tables: Sequence[pa.Table], path: Path) -> None:
    """Write one bundle's table of the kind ``name``, whole or not at all."""
    table = pa.concat_tables(tables) if tables else interim_table(name, ())
    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def read_interim(name: str, path: Path) -> pa.Table:
    """Read one bundle's table of the kind ``name``.

    Raises
    ------
    RecordsError
        When the file is missing, cut short, or has other columns.
    """
    try:
        with pq.ParquetFile(path) as file:
            table = file.read()
    except (OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0]
        raise RecordsError(
            f"{path}: not a complete Parquet file ({reason}); delete it and run again"
        ) from error
    if not table.schema.equals(SCHEMAS[name]):
        raise RecordsError(
            f"{path}: has columns {table.schema.names}, should have {SCHEMAS[name].names} with the "
            "types of this version; delete it and run again"
        )
    return table
