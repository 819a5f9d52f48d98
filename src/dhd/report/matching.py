"""Names that two sets of tables share: one spelling of raw keys and display names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import pandas as pd

from dhd.report.cells import is_missing
from dhd.report.labels import Labels

_JOINT: Final = "allmodels"


def canonical(labels: Labels, column: str, value: object) -> str:
    """Return a spelling that raw keys and display names share: ``omnimath2``."""
    if is_missing(value):
        return ""
    return re.sub(r"[-_\s]+", "", labels.show(column, value)).casefold()


def named_models(tables: Mapping[str, pd.DataFrame], labels: Labels) -> dict[str, str]:
    """Return the models that tables have rows of, shown names by their common spelling."""
    shown = {
        canonical(labels, "model", model): labels.show("model", model)
        for frame in tables.values()
        if "model" in frame.columns
        for model in frame["model"].dropna().unique()
    }
    return {spelling: name for spelling, name in shown.items() if spelling not in ("", _JOINT)}


def without_joint_rows(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the tables without rows over all models."""
    kept = {}
    for name, frame in tables.items():
        if "model" in frame.columns:
            joint = frame["model"].isna() | frame["model"].isin(["", "both"])
            frame = frame[~joint]
        kept[name] = frame
    return kept
