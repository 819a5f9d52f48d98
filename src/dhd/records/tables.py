"""Reading and writing one table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dhd.files import replacing
from dhd.records.checks import column_faults, frame_faults, is_text
from dhd.records.faults import Fault, raise_faults
from dhd.records.schemas import TABLES, Column, Kind, Table


def arrow_type(column: Column) -> pa.DataType:
    """Return the Arrow type in which a column is written."""
    match column.kind:
        case Kind.TEXT | Kind.LABEL:
            return pa.string()
        case Kind.INTEGER:
            return pa.int64() if column.width == 64 else pa.int32()
        case Kind.BOOLEAN:
            return pa.bool_()
        case Kind.JUDGEMENT:
            return pa.int8()
        case Kind.TEXT_LIST:
            return pa.list_(pa.string())


def read_table(name: str, path: Path) -> pd.DataFrame:
    """Read one table and check everything that the table alone can show.

    Parameters
    ----------
    name
        Name of the table, e.g. ``outcomes``.
    path
        The Parquet file.

    Returns
    -------
    The rows in file order. Labels (keys, enumerations) are categorical, judgements ``Int8``,
    integers ``int32`` or ``int64``; further columns are kept as they are.

    Raises
    ------
    RecordsError
        When the file is missing, not a whole Parquet file, or breaks its contract; the message
        lists every fault.
    """
    frame, faults = inspect_table(TABLES[name], path)
    raise_faults(str(path), faults)
    return frame


def inspect_table(table: Table, path: Path) -> tuple[pd.DataFrame, list[Fault]]:
    """Read one table and return its sound columns and its faults, raising nothing."""
    try:
        arrow = _read_arrow(table, path)
    except FileNotFoundError:
        return pd.DataFrame(), [Fault(path.name, f"no such file in {path.parent}")]
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        return pd.DataFrame(), [Fault(path.name, f"not a complete Parquet file ({reason})")]
    faults, broken = column_faults(table, arrow, path.name)
    frame = _to_frame(table, arrow.drop_columns(sorted(broken)))
    return frame, faults + frame_faults(table, frame, path.name)


def write_table(name: str, rows: pd.DataFrame | Iterable[Mapping[str, Any]], path: Path) -> None:
    """Check rows and write them as one table.

    The file appears whole or not at all: it is written under a temporary name in the same
    folder, synced and renamed. Equal rows in equal order give equal bytes.

    Parameters
    ----------
    name
        Name of the table, e.g. ``messages``.
    rows
        A frame, or one mapping a row; columns beyond the declared ones are written too.
    path
        Where the file goes; its folder is made when missing.

    Raises
    ------
    RecordsError
        When the rows break the contract; nothing is written then.
    """
    table = TABLES[name]
    arrow, faults = _to_arrow(table, rows, path.name)
    column_errors, broken = column_faults(table, arrow, path.name)
    faulty = {fault.where for fault in faults}
    faults += [fault for fault in column_errors if fault.where not in faulty]
    frame = _to_frame(table, arrow.drop_columns(sorted(broken)))
    raise_faults(str(path), faults + frame_faults(table, frame, path.name))
    with replacing(path) as temporary:
        pq.write_table(
            arrow.replace_schema_metadata(None),
            temporary,
            compression="zstd",
            write_page_checksum=True,
        )


def _read_arrow(table: Table, path: Path) -> pa.Table:
    declared = {column.name for column in table.columns if column.kind is Kind.LABEL}
    texts = {field.name for field in pq.read_schema(path) if is_text(field.type)}
    labels = sorted(declared & texts)
    # A ParquetFile, not pq.read_table: the latter reads partitions out of folder names.
    with pq.ParquetFile(path, read_dictionary=labels, page_checksum_verification=True) as file:
        arrow = file.read()
    arrow.validate(full=True)
    duplicated = {name for name in arrow.column_names if arrow.column_names.count(name) > 1}
    if duplicated:
        raise pa.ArrowInvalid(f"columns occur more than once: {', '.join(sorted(duplicated))}")
    return arrow.replace_schema_metadata(None)


def _to_frame(table: Table, arrow: pa.Table) -> pd.DataFrame:
    """Convert sound columns to their types in memory."""
    columns: dict[str, Any] = {}
    declared = {column.name: column for column in table.columns}
    for name in arrow.column_names:
        values, column = arrow.column(name), declared.get(name)
        if column is not None and column.kind is Kind.LABEL:
            columns[name] = _labels(column, values)
        elif column is not None and column.kind is Kind.JUDGEMENT:
            columns[name] = _judgements(values)
        else:
            target = arrow_type(column) if column is not None else values.type
            columns[name] = values.cast(target).to_pandas()
    return pd.DataFrame(columns, index=pd.RangeIndex(arrow.num_rows))


def _labels(column: Column, values: pa.ChunkedArray) -> pd.Categorical:
    if not pa.types.is_dictionary(values.type):
        values = values.cast(pa.string()).dictionary_encode()
    series = values.unify_dictionaries().to_pandas()
    present = set(series.cat.categories.astype(str))
    # Enumerations keep their declared order; whatever is not declared is a fault found later.
    known = [value for value in column.allowed or () if value in present]
    categories = pd.Index([*known, *sorted(present - set(known))], dtype="str")
    return series.cat.set_categories(categories).array


def _judgements(values: pa.ChunkedArray) -> pd.api.extensions.ExtensionArray:
    missing = values.is_null().to_numpy()
    numbers = pc.fill_null(values.cast(pa.int64()), 0).to_numpy()
    # A value that int8 cannot hold would wrap around; -1 is refused like any other.
    held = np.where(np.abs(numbers) > 1, -1, numbers).astype(np.int8)
    return pd.arrays.IntegerArray(held, missing)


def _to_arrow(
    table: Table, rows: pd.DataFrame | Iterable[Mapping[str, Any]], filename: str
) -> tuple[pa.Table, list[Fault]]:
    """Return rows in their written types; a column that does not fit is a fault and left out."""
    columns = _columns_of(rows)
    declared = {column.name: column for column in table.columns}
    ordered = [name for name in declared if name in columns]
    ordered += [name for name in columns if name not in declared]
    arrays: dict[str, pa.Array] = {}
    faults: list[Fault] = []
    for name in ordered:
        target = arrow_type(declared[name]) if name in declared else None
        try:
            arrays[name] = _array(columns[name], target)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            reason = str(error).splitlines()[0]
            faults.append(Fault(f"{filename} {name}", f"values do not fit their type ({reason})"))
    return pa.table(arrays), faults


def _columns_of(rows: pd.DataFrame | Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    if isinstance(rows, pd.DataFrame):
        return {str(name): rows[name] for name in rows.columns}
    listed = list(rows)
    names = dict.fromkeys(name for row in listed for name in row)
    return {name: [row.get(name) for row in listed] for name in names}


def _array(values: Any, target: pa.DataType | None) -> pa.Array:
    """Convert values, exactly or not at all: 1.0 becomes 1, 0.5 is refused."""
    array = pa.array(values, from_pandas=True)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if target is None or array.type == target:
        return array
    if is_text(target) and not (is_text(array.type) or pa.types.is_null(array.type)):
        raise TypeError(f"{array.type} instead of string")
    return array.cast(target)
