"""A whole records folder: five tables that refer to each other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from dhd.errors import RecordsError
from dhd.records.checks import row_codes
from dhd.records.faults import Fault, raise_faults, row_fault
from dhd.records.schemas import MESSAGES, OUTCOMES, PROBLEMS, TABLES, Table
from dhd.records.tables import inspect_table


@dataclass(frozen=True)
class Records:
    """The checked tables of one records folder; columns beyond the contract are kept.

    ``problem_uid`` is categorical in every table, with the problems in file order as its
    categories: its codes are row numbers of :attr:`problems`.
    """

    problems: pd.DataFrame
    messages: pd.DataFrame
    outcomes: pd.DataFrame
    evaluations: pd.DataFrame | None = None
    protocol_runs: pd.DataFrame | None = None


def load_records(folder: Path) -> Records:
    """Read and check a records folder.

    Parameters
    ----------
    folder
        Holds ``problems``, ``messages`` and ``outcomes`` as Parquet files, and may hold
        ``evaluations`` and ``protocol_runs``.

    Raises
    ------
    RecordsError
        Once, listing every fault of every table: where it is, what would be right, how many
        rows are affected and the key of one of them.
    """
    if not folder.is_dir():
        raise RecordsError(f"{folder}: no such folder of records")
    frames: dict[str, pd.DataFrame] = {}
    faults: list[Fault] = []
    for name, table in TABLES.items():
        path = folder / table.filename
        if table.optional and not path.exists():
            continue
        frames[name], found = inspect_table(table, path)
        faults += found
    raise_faults(str(folder), faults + _reference_faults(frames))
    return Records(**frames)


def _reference_faults(frames: dict[str, pd.DataFrame]) -> list[Fault]:
    """Check what the tables say of each other, as far as the columns for it are sound.

    On the way ``problem_uid`` gets the categories of ``problems`` in every table.
    """
    faults: list[Fault] = []
    problems = frames["problems"].get("problem_uid")
    if problems is not None and not problems.duplicated().any():
        order = pd.Index(problems.astype(str), dtype="str")
        for name, frame in frames.items():
            if "problem_uid" in frame:
                faults += _align(TABLES[name], frame, order)
    faults += _pool_faults(frames["messages"], frames["outcomes"])
    return faults + _pair_faults(frames["outcomes"])


def _align(table: Table, frame: pd.DataFrame, order: pd.Index) -> list[Fault]:
    uid = frame["problem_uid"]
    known = uid.cat.categories.isin(order)
    if known.all():
        frame["problem_uid"] = uid.cat.set_categories(order)
        return []
    bad = ~known[uid.cat.codes.to_numpy()]
    key = frame[[name for name in table.key if name in frame]]
    where = f"{table.filename} problem_uid"
    return row_fault(where, f"not in {PROBLEMS.filename}", bad, key)


def _pool_faults(messages: pd.DataFrame, outcomes: pd.DataFrame) -> list[Fault]:
    """Every message that an outcome shows or targets is there, and every prefix is whole."""
    pool = ["model", "problem_uid"]
    needed = [*pool, "k", "message_index"]
    if not set(pool) <= set(messages) or not set(needed) <= set(outcomes):
        return []
    keys = {name: union_categoricals([messages[name], outcomes[name]]) for name in pool}
    codes = row_codes(pd.DataFrame(keys), pool)
    owned, asked = codes[: len(messages)], codes[len(messages) :]
    sizes = np.bincount(owned, minlength=int(codes.max(initial=-1)) + 1)
    last = np.maximum(outcomes["k"].to_numpy(), outcomes["message_index"].to_numpy())
    key = outcomes[[name for name in OUTCOMES.key if name in outcomes]]
    what = f"beyond the pool: {MESSAGES.filename} has fewer messages of this model and problem"
    return row_fault(f"{OUTCOMES.filename} k, message_index", what, last > sizes[asked], key)


def _pair_faults(outcomes: pd.DataFrame) -> list[Fault]:
    """In the repeated studies the identical-input calls of a block come in pairs."""
    if not set(OUTCOMES.key) <= set(outcomes):
        return []
    paired = outcomes["condition"].isin(["full", "repeat"]) & (outcomes["study"] != "scan")
    rows = outcomes.loc[paired, list(OUTCOMES.key)]
    if rows.empty:
        return []
    codes = row_codes(rows, [name for name in OUTCOMES.key if name != "repeat"])
    _, group = np.unique(codes, return_inverse=True)
    both = np.bincount(group, weights=rows["repeat"].to_numpy() == 1) > 0
    both &= np.bincount(group, weights=rows["repeat"].to_numpy() == 2) > 0
    what = "an identical-input call without its pair (repeat 1 and 2)"
    return row_fault(f"{OUTCOMES.filename} repeat", what, ~both[group], rows)
