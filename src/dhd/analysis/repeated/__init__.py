"""Statistics of the repeated studies: controlled repeats, sensitivity, masking, cross-fitting.

:mod:`~dhd.analysis.repeated.blocks` holds a study as arrays; the estimators are pure
functions of them; the ``*_tables`` modules lay them out as the paper's Tables 17 to 26.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from dhd.analysis.context import TableFunction
from dhd.analysis.repeated import (
    crossfit_tables,
    masking,
    problem_tables,
    replay_tables,
    sensitivity,
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

__all__ = ["TABLES"]
