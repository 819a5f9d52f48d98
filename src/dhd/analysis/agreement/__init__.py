"""Agreement: of evaluators on submissions and triplets, and of two scans on effect labels."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from dhd.analysis.agreement.evaluators import evaluator_claims, figure_09
from dhd.analysis.agreement.triplets import table_28, triplet_claims
from dhd.analysis.context import ClaimFunction, TableFunction

TABLES: Final = MappingProxyType[str, TableFunction]({"figure_09": figure_09, "table_28": table_28})
CLAIMS: Final[tuple[ClaimFunction, ...]] = (evaluator_claims, triplet_claims)

__all__ = ["CLAIMS", "TABLES"]
