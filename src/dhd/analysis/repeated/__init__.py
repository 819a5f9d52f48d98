"""Statistics of the repeated studies: controlled repeats, sensitivity, masking, cross-fitting.

:mod:`~dhd.analysis.repeated.blocks` holds a study as arrays; the estimators are pure
functions of them; the ``*_tables`` modules lay them out as the paper's Tables 17 to 26.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from dhd.analysis.context import ClaimFunction, TableFunction
from dhd.analysis.repeated import (
    crossfit_tables,
    masking,
    problem_tables,
    replay_claims,
    replay_tables,
    sensitivity,
    study_claims,
)

TABLES: Final = MappingProxyType[str, TableFunction](
    {
        **replay_tables.TABLES,
        **problem_tables.TABLES,
        **sensitivity.TABLES,
        **masking.TABLES,
        **crossfit_tables.TABLES,
    }
)
CLAIMS: Final[tuple[ClaimFunction, ...]] = (*replay_claims.CLAIMS, *study_claims.CLAIMS)

__all__ = ["CLAIMS", "TABLES"]
