"""Our tables beside the published ones: which numbers differ, and by how much.

Every number gets a *distance* that one tolerance can be held against:

=============================  ===================================================
columns                        distance
=============================  ===================================================
``_pct``, ``_pp``              percentage points
``_n``                         percent of the published count; below 100, counts
tokens, calls                  percent of the published number
all others (κ, r, p, means)    hundredths
=============================  ===================================================

So a tolerance of 1 allows one point, one percent of a large count, one in a small count, and
0.01 of a κ. Interval bounds have the unit of the value before them and are held to the same
tolerance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dhd.errors import RecordsError
from dhd.report.cells import Row, is_missing
from dhd.report.labels import Labels
from dhd.report.matching import canonical, named_models, without_joint_rows
from dhd.report.measured import measured_tables

# Columns that tell rows apart; the others are numbers, or text that is not compared.
KEY_COLUMNS = (
    "claim_id",
    "matched_change",
    "model",
    "integrator",
    "benchmark",
    "replay",
    "k",
    "protocol",
    "policy",
    "contrast",
    "gap_source",
    "proposed_answer",
    "category",
    "sample",
    "condition",
    "arm",
    "control",
    "role",
    "panel",
    "evaluator_a",
    "evaluator_b",
)
_CLAIM_UNITS = {"n": "_n", "pct": "_pct", "pp": "_pp", "thousand_tokens": "tokens"}
_SMALL_COUNT = 100.0
_ROUNDING = 1e-9

Key = tuple[str, ...]
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One number that both sides have.

    Attributes
    ----------
    row
        The row's keys as shown, without the columns' names.
    published, ours
        The two values; None where the column is a range without a point.
    distance
        Largest distance of value and bounds, in the unit that the module explains.
    unit
        ``points``, ``%``, ``counts`` or ``hundredths``.
    published_interval, our_interval
        Bounds, or None.
    """

    table: str
    row: str
    column: str
    published: float | None
    ours: float | None
    distance: float
    unit: str
    published_interval: Interval | None = None
    our_interval: Interval | None = None

    @property
    def overlap(self) -> bool | None:
        """Tell whether the two intervals share a point; None without intervals."""
        if self.published_interval is None or self.our_interval is None:
            return None
        (low, high), (our_low, our_high) = self.published_interval, self.our_interval
        return low <= our_high and our_low <= high

    def exceeds(self, tolerance: float) -> bool:
        """Tell whether the distance is above `tolerance`."""
        return self.distance > tolerance + _ROUNDING


@dataclass(frozen=True, slots=True)
class OneSided:
    """A table, row, column or number that one side lacks; `side` is who has it."""

    table: str
    side: str
    what: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything that a comparison found."""

    compared: tuple[Comparison, ...]
    one_sided: tuple[OneSided, ...]


@dataclass(frozen=True, slots=True)
class _Quantity:
    """A value column with the columns of its bounds; either may be missing."""

    name: str
    value: str | None
    low: str | None = None
    high: str | None = None


def distance(kind: str, published: float, ours: float) -> tuple[float, str]:
    """Return how far `ours` is from `published`, and the unit of that distance.

    Parameters
    ----------
    kind
        Name of the column; its ending tells the unit.
    """
    difference = abs(ours - published)
    if kind.endswith(("_pct", "_pp")):
        return difference, "points"
    if kind.endswith("_n"):
        if abs(published) < _SMALL_COUNT:
            return difference, "counts"
        return 100 * difference / abs(published), "%"
    if kind.startswith(("tokens", "logged_calls")):
        if published == 0:
            return (0.0 if difference == 0 else float("inf")), "%"
        return 100 * difference / abs(published), "%"
    return 100 * difference, "hundredths"


def _quantities(columns: list[str]) -> list[_Quantity]:
    """Pair value columns with their bounds: ``ci_*`` follow their value, ``null_*`` stand alone."""
    found: list[_Quantity] = []
    for column in columns:
        null = re.fullmatch(r"null_low(_.+)", column)
        if column == "ci_low" and found and "ci_high" in columns:
            found[-1] = _Quantity(found[-1].name, found[-1].value, "ci_low", "ci_high")
        elif null and f"null_high{null[1]}" in columns:
            found.append(_Quantity(f"null_range{null[1]}", None, column, f"null_high{null[1]}"))
        elif column != "ci_high" and not re.fullmatch(r"null_high_.+", column):
            found.append(_Quantity(column, column))
    return found


def _by_key(
    where: str, frame: pd.DataFrame, keys: list[str], labels: Labels
) -> dict[Key, dict[str, Any]]:
    rows: dict[Key, dict[str, Any]] = {}
    for values in frame.itertuples(index=False, name=None):
        row = dict(zip(frame.columns, values, strict=True))
        key = tuple(canonical(labels, column, row[column]) for column in keys)
        if key in rows:
            raise RecordsError(
                f"{where}: two rows for {_shown(labels, keys, row)}; "
                f"the columns {', '.join(keys)} should tell them apart"
            )
        rows[key] = row
    return rows


def _shown(labels: Labels, keys: list[str], row: Row) -> str:
    names = [labels.show(column, row[column]) for column in keys if not is_missing(row[column])]
    return " · ".join(names) or "(the only row)"


def _numbers(row: Row, quantity: _Quantity) -> list[float | None]:
    columns = (quantity.value, quantity.low, quantity.high)
    return [
        None if column is None or is_missing(row[column]) else float(row[column])
        for column in columns
    ]


def _interval(numbers: list[float | None]) -> Interval | None:
    low, high = numbers[1:]
    return None if low is None or high is None else (low, high)


def _compare_row(
    place: tuple[str, str], quantity: _Quantity, published: Row, ours: Row
) -> Comparison | OneSided | None:
    table, shown = place
    theirs, own = _numbers(published, quantity), _numbers(ours, quantity)
    pairs = [(a, b) for a, b in zip(theirs, own, strict=True) if a is not None and b is not None]
    if not pairs:
        for side, numbers in (("published", theirs), ("ours", own)):
            if any(number is not None for number in numbers):
                return OneSided(table, side, f"{shown}: {quantity.name}")
        return None
    kind = quantity.name
    if table == "text_claims":
        kind = _CLAIM_UNITS.get(str(published.get("unit", "")), kind)
    largest, unit = max(distance(kind, a, b) for a, b in pairs)
    intervals = _interval(theirs), _interval(own)
    return Comparison(table, shown, quantity.name, theirs[0], own[0], largest, unit, *intervals)


def _numeric(frame: pd.DataFrame) -> list[str]:
    return [
        str(column)
        for column in frame.columns
        if column not in KEY_COLUMNS and pd.api.types.is_numeric_dtype(frame[column])
    ]


def _spellings(labels: Labels, column: str, *frames: pd.DataFrame) -> set[str]:
    return {canonical(labels, column, value) for frame in frames for value in frame[column]}


def _differ(labels: Labels, row: Row, other: Row) -> bool:
    """Tell whether both rows name a model and not the same: claims match by their id alone."""
    names = {canonical(labels, "model", one.get("model")) for one in (row, other)}
    return "" not in names and len(names) > 1


def _compare_table(
    table: str, published: pd.DataFrame, ours: pd.DataFrame, labels: Labels
) -> Iterator[Comparison | OneSided]:
    keys = [c for c in KEY_COLUMNS if c in published.columns and c in ours.columns]
    if "claim_id" in keys:
        keys = ["claim_id"]
    # A key that is the same in every row (the only K, the only sample) names nothing.
    telling = [c for c in keys if len(_spellings(labels, c, published, ours)) > 1]
    theirs = _by_key(f"{table} (published)", published, keys, labels)
    own = _by_key(f"{table} (ours)", ours, keys, labels)
    columns = {"published": _numeric(published), "ours": _numeric(ours)}
    for side, other in (("published", "ours"), ("ours", "published")):
        lacking = [c for c in columns[side] if c not in columns[other]]
        yield from (OneSided(table, side, f"column {column}") for column in lacking)
    quantities = _quantities([c for c in columns["published"] if c in columns["ours"]])
    for key, row in theirs.items():
        shown = _shown(labels, telling, row)
        if key not in own or _differ(labels, row, own[key]):
            yield OneSided(table, "published", shown)
            continue
        for quantity in quantities:
            found = _compare_row((table, shown), quantity, row, own[key])
            if found is not None:
                yield found
    for key, row in own.items():
        if key not in theirs or _differ(labels, row, theirs[key]):
            yield OneSided(table, "ours", _shown(labels, telling, row))


def compare_tables(
    published: Mapping[str, pd.DataFrame], ours: Mapping[str, pd.DataFrame], labels: Labels
) -> Outcome:
    """Compare two sets of tables.

    Rows are matched by their key columns, raw keys with display names; models and benchmarks
    that one side does not have are listed, not compared. Numbers that were chosen, not measured
    (`dhd.report.measured`), are left away, and so are rows over all models where these differ.

    Parameters
    ----------
    published, ours
        Frames by name (`dhd.report.frames.read_tables`).

    Raises
    ------
    RecordsError
        When two rows of a table have the same keys.
    """
    published, ours = measured_tables(published), measured_tables(ours)
    theirs = named_models(published, labels)
    if theirs and theirs.keys() != named_models(ours, labels).keys():
        published, ours = without_joint_rows(published), without_joint_rows(ours)
    found: list[Comparison | OneSided] = []
    for table in sorted({*published, *ours}):
        if table not in ours:
            found.append(OneSided(table, "published", "the whole table"))
        elif table not in published:
            found.append(OneSided(table, "ours", "the whole table"))
        else:
            found += _compare_table(table, published[table], ours[table], labels)
    return Outcome(
        tuple(item for item in found if isinstance(item, Comparison)),
        tuple(item for item in found if isinstance(item, OneSided)),
    )
