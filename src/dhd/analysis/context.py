"""What every table function is given, and how it says that it cannot answer.

A table function takes an :class:`AnalysisContext` and returns a frame with raw keys
(``oss``, ``omni_math_2``, and the rows ``pooled``, ``macro``, ``both``) and unrounded numbers.
It raises :class:`Absent` when the records cannot determine the table. A module with tables
offers them as ``TABLES`` and single numbers of the running text as ``CLAIMS``; the registry
puts both together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeVar

import numpy as np
import pandas as pd

from dhd.analysis.bootstrap import rng_for
from dhd.analysis.cells import ModelScan, build_scans
from dhd.analysis.settings import AnalysisSettings
from dhd.errors import DhdError
from dhd.records import Records

T = TypeVar("T")

#: Row keys that stand for several benchmarks or models.
POOLED: Final = "pooled"
MACRO: Final = "macro"
BOTH: Final = "both"


class Absent(DhdError):  # noqa: N818 - the outcome of a table, not a failure of the program
    """The records at hand cannot determine a table; the message says what they lack."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One number of the running text (``text_claims.csv``).

    ``model`` and ``benchmark`` are raw keys or one of the joint rows, or empty.
    """

    claim_id: str
    quantity: str
    value: float
    unit: str
    model: str = ""
    benchmark: str = ""


@dataclass(frozen=True)
class AnalysisContext:
    """Records, settings, and what several tables share; computed once, when first asked for.

    Attributes
    ----------
    records
        The checked records.
    settings
        The ``analysis`` section of the config.
    decoding
        Per role its (temperature, largest number of completion tokens); None without a config.
    """

    records: Records
    settings: AnalysisSettings
    decoding: Mapping[str, tuple[float, int]] | None = None
    _cache: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def order_models(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Return the distinct model keys: the named ones in config order, then the others."""
        return _ordered(keys, self.settings.model_names)

    def order_benchmarks(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Return the distinct benchmark keys: the named ones in config order, then the others."""
        return _ordered(keys, self.settings.benchmark_names)

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Every model that wrote messages or whose outcomes are recorded, in table order."""
        tables = (self.records.messages, self.records.outcomes)
        return self.order_models(key for table in tables for key in table["model"].unique())

    @cached_property
    def benchmark_of(self) -> pd.Series:
        """Benchmark key (string) of every problem, indexed by ``problem_uid``."""
        problems = self.records.problems
        return pd.Series(
            problems["benchmark"].astype(str).to_numpy(dtype=object),
            index=pd.Index(problems["problem_uid"].astype(str), name="problem_uid"),
        )

    @cached_property
    def scans(self) -> Mapping[str, ModelScan]:
        """The ``scan`` of every model that has one, in table order."""
        scans = build_scans(self.records, self.settings)
        return {model: scans[model] for model in self.order_models(scans)}

    def require_scans(self) -> Mapping[str, ModelScan]:
        """Return :attr:`scans`; raise :class:`Absent` when no model has one."""
        if not self.scans:
            raise Absent("outcomes.parquet has no rows of study 'scan'")
        return self.scans

    def benchmarks_in(self, scan: ModelScan) -> tuple[str, ...]:
        """Return the benchmarks of a scan in table order."""
        return self.order_benchmarks(scan.benchmark_keys)

    def rng(self, label: str) -> np.random.Generator:
        """Return the generator of one statistic; see :func:`dhd.analysis.bootstrap.rng_for`."""
        return rng_for(self.settings, label)

    def table(self, name: str, function: TableFunction) -> pd.DataFrame:
        """Return a table, computed at most once, for functions that read other tables."""
        return self.cached(f"table/{name}", lambda: function(self))

    def cached(self, name: str, compute: Callable[[], T]) -> T:
        """Return ``compute()``, called at most once for a name."""
        if name not in self._cache:
            self._cache[name] = compute()
        value: T = self._cache[name]
        return value


TableFunction = Callable[[AnalysisContext], pd.DataFrame]
ClaimFunction = Callable[[AnalysisContext], Iterable[Claim]]


def _ordered(keys: Iterable[str], named: Mapping[str, str]) -> tuple[str, ...]:
    found = {str(key) for key in keys}
    return tuple(key for key in named if key in found) + tuple(sorted(found - set(named)))
