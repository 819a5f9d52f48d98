"""Faults of records, and the one error that lists them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dhd.errors import RecordsError

BoolArray = npt.NDArray[np.bool_]

#: Longest value shown in a message: model output can be long and hostile.
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Fault:
    """One way in which a table breaks its contract.

    Attributes
    ----------
    where
        File name, with the column where there is one.
    what
        What is wrong and what would be right.
    count
        How many rows are affected; 0 for faults of the whole column or file.
    example
        Key of the first affected row, or empty.
    """

    where: str
    what: str
    count: int = 0
    example: str = ""

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}"
        if self.count:
            text += f" ({self.count} row{'s' if self.count > 1 else ''}"
            text += f", e.g. {self.example})" if self.example else ")"
        return text


def show(value: Any) -> str:
    """Return a value as one short line of printable text."""
    text = repr(str(value)) if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def row_fault(where: str, what: str, bad: BoolArray, rows: pd.DataFrame) -> list[Fault]:
    """Return the fault of the rows marked in ``bad``, or nothing when none is.

    ``rows`` holds the columns that identify a row, e.g. the key.
    """
    count = int(bad.sum())
    if count == 0:
        return []
    first = int(np.argmax(bad))
    example = ", ".join(f"{name}={show(rows[name].iloc[first])}" for name in rows.columns)
    return [Fault(where, what, count, example)]


def raise_faults(origin: str, faults: Iterable[Fault]) -> None:
    """Raise :class:`RecordsError` listing all faults; return when there are none."""
    found: Sequence[Fault] = tuple(faults)
    if found:
        plural = "s" if len(found) > 1 else ""
        lines = "".join(f"\n  - {fault}" for fault in found)
        raise RecordsError(f"{origin}: {len(found)} fault{plural}{lines}")
