"""The contract between generation and analysis: five Parquet tables in one folder.

The tables are declared in :mod:`dhd.records.schemas`. :func:`write_table` and
:func:`read_table` handle one file each, :func:`load_records` a whole folder; all of them check
what passes through and raise one :class:`~dhd.errors.RecordsError` that lists every fault.
"""

from dhd.records.load import Records, load_records
from dhd.records.schemas import TABLES, Column, Kind, Table
from dhd.records.tables import read_table, write_table

__all__ = [
    "TABLES",
    "Column",
    "Kind",
    "Records",
    "Table",
    "load_records",
    "read_table",
    "write_table",
]
