"""Decoding settings by role: Table 27."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import pandas as pd

from dhd.analysis.context import Absent, AnalysisContext, TableFunction

#: Order of the roles; others follow in the order given.
ROLES: Final = ("recruiter", "hypothesizer", "integrator", "evaluator")


def table_27(context: AnalysisContext) -> pd.DataFrame:
    """Return temperature and largest completion of every role that was asked (paper Table 27).

    Raises
    ------
    Absent
        Without a config, since records do not hold decoding settings.
    """
    if context.decoding is None:
        raise Absent(
            "decoding settings are in the study's config: give it with --config (the records have "
            "no settings.yaml)"
        )
    given = context.decoding
    roles = [role for role in ROLES if role in given]
    roles += [role for role in given if role not in ROLES]
    return pd.DataFrame(
        {
            "role": roles,
            "temperature": [float(given[role][0]) for role in roles],
            "max_completion_tokens_n": [int(given[role][1]) for role in roles],
        }
    )


TABLES: Final = MappingProxyType[str, TableFunction]({"table_27": table_27})
