"""Why messages and outcomes are lacking, in lines for the terminal and the logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dhd.messages import POOL_SIZE
from dhd.wording import number_of

_NO_ROSTER: Final = "no_roster"
_ROSTER_HINT: Final = "; see decoding.recruiter.temperature and deliberation.max_roster_attempts"
#: Statuses of rows that hold no observation; an outcome without an answer is one, a wrong one.
_UNOBSERVED: Final = ("failed", "unjudged")
_COLUMNS: Final = ("model", "problem_uid", "status", "reason")
_NO_ROWS: Final = pa.table({name: pa.nulls(0) for name in _COLUMNS})
_SHOWN: Final = 4
_LONGEST: Final = 80


def reason_counts(rows: pd.DataFrame) -> Counter[str]:
    """Return how often each status with its reason occurs: ``no_roster (…)``, ``truncated``.

    Parameters
    ----------
    rows
        Messages or outcomes with ``status``, and ``reason`` where the records tell it.
    """
    counts = Counter[str]()
    pairs = Counter(zip(rows["status"], _reasons(rows), strict=True))
    for (status, why), n in pairs.items():
        counts[_reason(str(status), None if pd.isna(why) else why)] += n
    return counts


def counted_reasons(counts: Counter[str]) -> str:
    """Return the commonest reasons in one line: ``truncated ×3, failed (timeout) ×1``."""
    common = counts.most_common()
    parts = [f"{reason} ×{n:,}" for reason, n in common[:_SHOWN]]
    if others := sum(n for _, n in common[_SHOWN:]):
        parts.append(f"other reasons ×{others:,}")
    return ", ".join(parts)


def failure_lines(messages: pd.DataFrame, outcomes: pd.DataFrame) -> list[str]:
    """Return which messages and outcomes are lacking and why, a line a model and kind.

    Parameters
    ----------
    messages, outcomes
        Tables of a records folder or of bundles; of their columns ``model``, ``problem_uid``,
        ``status`` and, where it is there, ``reason`` are read. An outcome without an answer is
        a wrong one, not a lacking one.
    """
    lines = []
    for model, rows in messages.groupby("model", observed=True):
        lines += [f"{model}: {line}" for line in _message_lines(rows)]
    for model, rows in outcomes.groupby("model", observed=True):
        lacking = rows[rows["status"].isin(_UNOBSERVED)]
        if len(lacking):
            counts = counted_reasons(reason_counts(lacking))
            lines.append(f"{model}: {len(lacking):,} of {len(rows):,} outcomes lacking: {counts}")
    return lines


def study_failures(folder: Path) -> list[str]:
    """Return :func:`failure_lines` of a study's records, or of its bundles before these are there.

    Parameters
    ----------
    folder
        ``results/<study>``. Files that cannot be read count as absent: this is advice alone.
    """
    kinds = ("messages", "outcomes")
    records = [folder / "records" / f"{kind}.parquet" for kind in kinds]
    if all(path.is_file() for path in records):
        found = [[path] for path in records]
    else:
        bundles = folder / "bundles" / "deliberation"
        found = [sorted(bundles.glob(f"*/*/*.{kind}.parquet")) for kind in kinds]
    return failure_lines(*map(_read, found))


def _message_lines(rows: pd.DataFrame) -> Iterator[str]:
    """Yield what is lacking of one model's messages."""
    lacking = rows[rows["status"] != "ok"]
    is_absent = (lacking["status"] == "failed") & _reasons(lacking).str.startswith(
        _NO_ROSTER, na=False
    )
    pools = lacking[is_absent].drop_duplicates("problem_uid")
    if len(pools):
        problems = f"{len(pools):,} of {number_of(rows['problem_uid'].nunique(), 'problem')}"
        counts = counted_reasons(reason_counts(pools))
        yield f"no messages for {problems}: {counts}{_ROSTER_HINT}"
    others = lacking[~is_absent]
    if len(others):
        written = len(rows) - POOL_SIZE * len(pools)
        counts = counted_reasons(reason_counts(others))
        yield f"{len(others):,} of {number_of(written, 'message')} not usable: {counts}"


def _reasons(rows: pd.DataFrame) -> pd.Series[str]:
    """Return why rows are as they are; all missing where the records do not tell it."""
    if "reason" in rows:
        return rows["reason"].astype("str")
    return pd.Series(None, index=rows.index, dtype="str")


def _reason(status: str, why: str | None) -> str:
    if why is None:
        return status
    if why.startswith(_NO_ROSTER):
        status, _, why = why.partition(": ")
    # A reason may quote what a model wrote: repr escapes what would spoil a terminal.
    return f"{status} ({repr(why[:_LONGEST])[1:-1]})" if why else status


def _read(paths: Iterable[Path]) -> pd.DataFrame:
    """Return the rows of all files, read side by side: there may be hundreds on a slow disk."""
    with ThreadPoolExecutor() as pool:
        tables = list(pool.map(_table, paths))
    return pa.concat_tables([_NO_ROWS, *tables], promote_options="permissive").to_pandas()


def _table(path: Path) -> pa.Table:
    """Return the rows of one file; none where it cannot be read."""
    try:
        with pq.ParquetFile(path) as file:
            names = [name for name in _COLUMNS if name in file.schema_arrow.names]
            return file.read(columns=names, use_threads=False)
    except (OSError, pa.ArrowException):
        return _NO_ROWS
