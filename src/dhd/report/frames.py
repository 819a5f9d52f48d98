"""Frames as CSV and Parquet, and back."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pandas as pd

from dhd.errors import RecordsError
from dhd.report.cells import is_missing

_TABLE_FILE = re.compile(r"(table|figure)_\d\d|text_claims|left_out")
# Numbers up to this size are exact integers in a float.
_EXACT = 2.0**53


def _field(value: object) -> str:
    """Return a CSV field: blank for missing, the shortest exact decimal for a float."""
    if is_missing(value):
        return ""
    if isinstance(value, float):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < _EXACT else repr(number)
    return str(value)


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """Return `frame` as CSV in UTF-8, unrounded, integers without ``.0``, blanks for missing."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(frame.columns)
    for row in frame.itertuples(index=False, name=None):
        writer.writerow([_field(value) for value in row])
    return text.getvalue().encode()


def parquet_bytes(frame: pd.DataFrame) -> bytes:
    """Return `frame` as Parquet; a column of numbers and strings becomes strings."""
    mixed = [
        name
        for name in frame.columns
        if frame[name].dtype == object
        and len({isinstance(value, str) for value in frame[name].dropna()}) > 1
    ]
    if mixed:
        columns = {name: frame[name].map(_field, na_action="ignore") for name in mixed}
        frame = frame.assign(**columns)
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def read_csv(path: Path) -> pd.DataFrame:
    """Read a CSV written by `csv_bytes`, or a published one.

    Only blank fields are missing: a model may be called ``NA`` or ``null``. The pool size ``k``
    is read as a string, since it may be a range.
    """
    try:
        return pd.read_csv(path, dtype={"k": "str"}, keep_default_na=False, na_values=[""])
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise RecordsError(f"{path}: not a CSV table with a header line ({error})") from error


def read_tables(folder: Path) -> dict[str, pd.DataFrame]:
    """Read the tables, figure numbers, text claims and what is left out, by name.

    Raises
    ------
    RecordsError
        When `folder` is no folder, holds no such file, or one is not a CSV table.
    """
    if not folder.is_dir():
        raise RecordsError(f"{folder}: no such folder; give the folder that `dhd tables` wrote")
    paths = [path for path in sorted(folder.glob("*.csv")) if _TABLE_FILE.fullmatch(path.stem)]
    if not paths:
        raise RecordsError(
            f"{folder}: no tables; there should be files such as table_01.csv and figure_04.csv"
        )
    return {path.stem: read_csv(path) for path in paths}
