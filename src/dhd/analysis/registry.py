"""All tables that records can determine, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import pandas as pd

from dhd.analysis import (
    accuracy,
    agreement,
    claims,
    decoding,
    effect_tables,
    left_out,
    majority,
    policy_tables,
    protocols,
    quality,
    repeated,
)
from dhd.analysis.context import Absent, AnalysisContext, ClaimFunction, TableFunction
from dhd.analysis.settings import AnalysisSettings
from dhd.records import Records

_MODULES: Final = (
    accuracy,
    effect_tables,
    left_out,
    majority,
    policy_tables,
    protocols,
    repeated,
    decoding,
    agreement,
    quality,
)
#: Single numbers of the running text, from every module that offers some.
CLAIMS: Final[tuple[ClaimFunction, ...]] = (
    *claims.CLAIMS,
    *protocols.CLAIMS,
    *repeated.CLAIMS,
    *agreement.CLAIMS,
)


def text_claims(context: AnalysisContext) -> pd.DataFrame:
    """Return the numbers of the running text (``text_claims.csv``)."""
    return claims.text_claims(context, CLAIMS)


def _collected() -> dict[str, TableFunction]:
    tables = {name: table for module in _MODULES for name, table in module.TABLES.items()}
    return dict(sorted({**tables, "text_claims": text_claims}.items()))


#: Every table function by the name of its file, without suffix.
TABLES: Final[Mapping[str, TableFunction]] = MappingProxyType(_collected())


@dataclass(frozen=True)
class ComputedTables:
    """What :func:`compute_tables` found.

    Attributes
    ----------
    tables
        Frames by name, with raw keys and unrounded numbers.
    absent
        Names of the tables that the records or the config cannot determine, with the reason.
    """

    tables: Mapping[str, pd.DataFrame]
    absent: Mapping[str, str]


def compute_tables(
    records: Records,
    settings: AnalysisSettings,
    decoding: Mapping[str, tuple[float, int]] | None = None,
) -> ComputedTables:
    """Compute every table that the records determine.

    Parameters
    ----------
    records
        Checked records, from :func:`dhd.records.load_records`.
    settings
        The ``analysis`` section of the config; its seed decides every random draw.
    decoding
        Per role (temperature, largest number of completion tokens), for Table 27; None when
        there is no config.
    """
    context = AnalysisContext(records, settings, decoding)
    tables: dict[str, pd.DataFrame] = {}
    absent: dict[str, str] = {}
    for name, function in TABLES.items():
        try:
            tables[name] = context.table(name, function)
        except Absent as reason:
            absent[name] = str(reason)
    return ComputedTables(MappingProxyType(tables), MappingProxyType(absent))
