"""What one table alone can show: columns, types, nulls, values, keys, and rules over a row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from dhd.records.faults import BoolArray, Fault, row_fault, show
from dhd.records.rules import RULES
from dhd.records.schemas import Column, Kind, Table

_INTEGRAL = (Kind.INTEGER, Kind.JUDGEMENT)


def column_faults(table: Table, arrow: pa.Table, filename: str) -> tuple[list[Fault], set[str]]:
    """Check columns for presence, type and nulls.

    Returns
    -------
    The faults, and the names of the columns whose type or nulls make their values unusable.
    """
    faults: list[Fault] = []
    broken: set[str] = set()
    for column in table.columns:
        if column.name not in arrow.column_names:
            if not column.optional:
                faults.append(Fault(f"{filename} {column.name}", "column missing"))
            continue
        values = arrow.column(column.name)
        where = f"{filename} {column.name}"
        if not _fits(column, values.type):
            faults.append(Fault(where, f"type {values.type} instead of {column.kind.value}"))
            broken.add(column.name)
        elif values.null_count and not column.nullable:
            faults += _null_fault(table, arrow, column.name, where)
            broken.add(column.name)
    return faults, broken


def frame_faults(table: Table, frame: pd.DataFrame, filename: str) -> list[Fault]:
    """Check values, the key and the rules over a row, on whatever columns are there."""
    if frame.empty:
        return []
    key = frame[[name for name in table.key if name in frame]]
    faults: list[Fault] = []
    for column in table.columns:
        if column.name in frame:
            faults += _value_faults(column, frame[column.name], key, filename)
    if len(key.columns) == len(table.key):
        bad = duplicate_rows(key)
        what = f"key ({', '.join(table.key)}) occurs more than once"
        faults += row_fault(filename, what, bad, key)
    for rule in RULES.get(table.name, ()):
        if all(name in frame for name in rule.columns):
            shown = frame[[*key.columns, *(name for name in rule.shown if name not in key)]]
            faults += row_fault(f"{filename} {rule.column}", rule.what, rule.bad(frame), shown)
    return faults


def is_text(kind: pa.DataType) -> bool:
    """Return whether an Arrow type holds strings."""
    checks = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(check(kind) for check in checks)


def row_codes(frame: pd.DataFrame, names: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return a number per row, equal exactly where the named columns are equal."""
    codes = np.zeros(len(frame), dtype=np.int64)
    span = 1
    for name in names:
        column, size = _column_codes(frame[name])
        if span > np.iinfo(np.int64).max // max(size, 1):
            codes, span = _dense(codes)
        codes = codes * size + column
        span *= max(size, 1)
    return codes


def duplicate_rows(key: pd.DataFrame) -> BoolArray:
    """Mark every row whose key an earlier row has."""
    codes = pd.Series(row_codes(key, list(key.columns)))
    return np.asarray(codes.duplicated(), dtype=np.bool_)


def _column_codes(column: pd.Series) -> tuple[npt.NDArray[np.int64], int]:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy(np.int64), len(column.cat.categories)
    if pd.api.types.is_integer_dtype(column.dtype):
        values = column.to_numpy(np.int64)
        low = int(values.min()) if len(values) else 0
        span = int(values.max()) - low + 1 if len(values) else 1
        if span <= max(1024, 4 * len(values)):
            return values - low, span
    codes, uniques = pd.factorize(column, use_na_sentinel=False)
    return codes.astype(np.int64), len(uniques)


def _dense(codes: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], int]:
    dense, uniques = pd.factorize(codes)
    return dense.astype(np.int64), len(uniques)


def _fits(column: Column, kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_null(kind):
        return column.nullable
    if column.kind in _INTEGRAL:
        return bool(pa.types.is_integer(kind))
    if column.kind is Kind.BOOLEAN:
        return bool(pa.types.is_boolean(kind))
    if column.kind is Kind.TEXT_LIST:
        listed = pa.types.is_list(kind) or pa.types.is_large_list(kind)
        return bool(listed and is_text(kind.value_type))
    return is_text(kind)


def _null_fault(table: Table, arrow: pa.Table, name: str, where: str) -> list[Fault]:
    bad = arrow.column(name).is_null().to_numpy().astype(np.bool_)
    first = int(np.argmax(bad))
    known = [key for key in table.key if key in arrow.column_names]
    row = arrow.select(known).slice(first, 1).to_pylist()[0] if known else {}
    example = ", ".join(f"{key}={show(value)}" for key, value in row.items())
    return [Fault(where, "null where a value is needed", int(bad.sum()), example)]


def _value_faults(
    column: Column, values: pd.Series, key: pd.DataFrame, filename: str
) -> list[Fault]:
    where = f"{filename} {column.name}"
    match column.kind:
        case Kind.LABEL if column.allowed is not None:
            wrong = [value for value in values.cat.categories if value not in column.allowed]
            what = f"{_listed(wrong)} is none of {', '.join(column.allowed)}"
            return row_fault(where, what, values.isin(wrong).to_numpy(np.bool_), key)
        case Kind.LABEL if not column.nullable:
            return row_fault(where, "empty string", (values == "").to_numpy(np.bool_), key)
        case Kind.JUDGEMENT:
            bad = (~values.isin([0, 1]) & values.notna()).to_numpy(np.bool_)
            return row_fault(where, "neither 0, 1 nor null", bad, key)
        case Kind.INTEGER:
            return _range_faults(column, values, key, where)
        case _:
            return []


def _range_faults(column: Column, values: pd.Series, key: pd.DataFrame, where: str) -> list[Fault]:
    numbers = values.to_numpy()
    bad = np.zeros(len(numbers), dtype=np.bool_)
    if column.minimum is not None:
        bad |= numbers < column.minimum
    if column.maximum is not None:
        bad |= numbers > column.maximum
    upper = "" if column.maximum is None else f" to {column.maximum}"
    bounds = f"{column.minimum}{upper or ' or more'}"
    return row_fault(where, f"outside {bounds}", bad, key)


def _listed(values: Sequence[str]) -> str:
    shown = ", ".join(show(value) for value in values[:3])
    return shown + (f" and {len(values) - 3} more" if len(values) > 3 else "")
