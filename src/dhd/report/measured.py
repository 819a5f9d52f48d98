"""Which numbers of the paper are measured; the others were chosen before anything ran.

Seeds, sizes of benchmarks and samples, numbers of draws, temperatures: whoever runs a study of
her own chooses other ones, and equal ones say nothing about the models.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import pandas as pd

#: Benchmarks with their sizes (Table 2), decoding (Table 27), what is left out (not published).
_CHOSEN_TABLES: Final = frozenset({"table_02", "table_27", "left_out"})
#: Numbers of benchmarks that exist, of cases that were drawn.
_CHOSEN_COLUMNS: Final = frozenset({"coverage_of_n", "cases_n"})
_CHOSEN_CLAIMS: Final = re.compile(
    r"""
    (design|problems|temperature|mascqa|scibench|loo_bootstrap|offline_bootstrap|loo_scan)_.*
    | bootstrap_level | majority_threshold | null_datasets | permutation_slots
    | (problem|message)_test_permutations
    | repeat_(k|blocks|intervals|interval_level)
    | repeat_(full|removals|outcomes)_per_block | repeat_observations_per_problem
    | repeat_(problems|pairs|messages)_per_(benchmark|model)
    | separated_of_.* | crossfit_problems_of_.* | identical_input_pairs_.*
    | crossfit_(folds|selection_blocks|actions|split_fold_value)
    | sensitivity_(problems_per_benchmark|(new|reference)_blocks|conditions_per_block)
    | masking_(messages|repetitions|conditions|calls_.*|outcomes(_per_repetition)?|cases_.*)
    | masking_wh_anchors
    | system_(protocols|cells|cost_problems)
    | evaluator_(models|replay_submissions) | compound_triplets_per_model
    """,
    re.VERBOSE,
)


def measured_tables(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the tables with their measured numbers alone."""
    return {
        name: _measured(name, frame) for name, frame in tables.items() if name not in _CHOSEN_TABLES
    }


def is_measured(claim_id: str) -> bool:
    """Return whether a number of the running text was measured."""
    return _CHOSEN_CLAIMS.fullmatch(claim_id) is None


def _measured(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.drop(columns=[c for c in _CHOSEN_COLUMNS if c in frame.columns])
    if name == "text_claims" and "claim_id" in frame.columns:
        kept = [is_measured(str(claim)) for claim in frame["claim_id"]]
        frame = frame[kept].reset_index(drop=True)
    return frame
