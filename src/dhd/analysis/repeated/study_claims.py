"""Numbers of the running text about sensitivity, masking and cross-fitting (Tables 22 to 26)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pandas as pd

from dhd.analysis.context import BOTH, POOLED, AnalysisContext, Claim, ClaimFunction
from dhd.analysis.repeated.blocks import FULL_SLOTS, SLOTS, ReplayBlocks
from dhd.analysis.repeated.crossfit_control import CONTROLS
from dhd.analysis.repeated.crossfit_tables import complete_repeats, table_24, table_26
from dhd.analysis.repeated.masking import CONDITIONS, SAMPLES, table_23
from dhd.analysis.repeated.sensitivity import MATCHED_CHANGES, sensitivity_runs, table_22
from dhd.analysis.repeated.studies import repeats_of, study_rows

_CALLS_IDENTICAL: Final = 2
_CALLS_OTHER: Final = 1


def sensitivity_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield the design of the matched sensitivity and the integrator swap's correspondence."""
    table = context.table("table_22", table_22)
    runs = [blocks for _, blocks in sensitivity_runs(context)]
    sizes = {size for run in runs for size in pd.Series(run.benchmarks).value_counts()}
    for name, quantity, values in (
        (
            "sensitivity_problems_per_benchmark",
            "matched_sensitivity_problems_per_benchmark",
            sizes,
        ),
        ("sensitivity_new_blocks", "matched_sensitivity_new_blocks", _block_counts(runs)),
        (
            "sensitivity_reference_blocks",
            "matched_sensitivity_reference_blocks",
            _block_counts(list(repeats_of(context).values())),
        ),
        (
            "sensitivity_conditions_per_block",
            "conditions_randomly_ordered_per_block",
            {SLOTS},
        ),
    ):
        if len(values) == 1:
            yield Claim(name, quantity, int(values.pop()), "n")
    swap = table[table["matched_change"] == "integrator"]
    if len(swap) == 1:
        row = swap.iloc[0]
        for name, quantity, column, unit in (
            (
                "pearson_r",
                "trajectory_value_pearson_r_across_integrators",
                "pearson_r",
                "correlation",
            ),
            (
                "same_direction",
                "nonzero_messages_with_same_direction",
                "same_direction_n",
                "n",
            ),
            ("nonzero", "messages_nonzero_in_both_runs", "nonzero_n", "n"),
        ):
            name = f"{MATCHED_CHANGES['integrator']}_{name}"
            yield Claim(name, quantity, row[column], unit, row["model"], POOLED)


def masking_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield design and wrong-helpful contrasts of masking; nothing if several models have it."""
    table = context.table("table_23", table_23)
    if len(set(table["model"])) != 1:
        return
    model = table["model"].iloc[0]
    cases = table.groupby("sample")["cases_n"].first()
    total, outcomes = int(cases.sum()), int(table["outcomes_n"].sum())
    yield Claim("masking_messages", "masking_sample_messages", total, "n", model, POOLED)
    yield Claim("masking_outcomes", "masking_valid_outcomes", outcomes, "n", model, POOLED)
    for sample in SAMPLES:
        name, value = f"masking_cases_{sample}", int(cases.get(sample, 0))
        yield Claim(name, name, value, "n", model, POOLED)
    others = len(CONDITIONS) - FULL_SLOTS
    calls = FULL_SLOTS * _CALLS_IDENTICAL + others * _CALLS_OTHER
    blocks = study_rows(context, "masking")["block"].nunique()
    for name, quantity, value in (
        ("repetitions", "masking_repetitions_per_case", blocks),
        ("conditions", "masking_semantic_conditions", len(CONDITIONS)),
        (
            "calls_identical",
            "masking_calls_per_repetition_identical_input_condition",
            _CALLS_IDENTICAL,
        ),
        ("calls_other", "masking_calls_per_repetition_other_condition", _CALLS_OTHER),
        ("outcomes_per_repetition", "masking_outcomes_per_case_and_repetition", calls),
    ):
        yield Claim(f"masking_{name}", quantity, value, "n", model)
    yield from _wrong_helpful_claims(table, model)


def crossfit_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield gains, folds and bounds of the cross-fit."""
    sampled = repeats_of(context)
    for _, row in context.table("table_24", table_24).iterrows():
        model = row["model"]
        blocks = sampled[model]
        for name, quantity, value, unit in (
            ("crossfit_gain", "crossfit_one_removal_gain", row["gain_pp"], "pp"),
            (
                "crossfit_correctness_gain",
                "crossfit_proposal_correctness_comparator_gain",
                row["correctness_gain_pp"],
                "pp",
            ),
            (
                "crossfit_full_selected",
                "folds_selecting_full_pool",
                row["full_selected_pct"],
                "pct",
            ),
            ("crossfit_rescues", "rescues", row["rescues_n"], "n"),
            ("crossfit_harms", "harms", row["harms_n"], "n"),
            (
                "crossfit_hindsight",
                "hindsight_best_held_out_action_accuracy",
                row["hindsight_accuracy_pct"],
                "pct",
            ),
            (
                "remove_lowest_wrong_gain",
                "remove_lowest_index_wrong_message_gain",
                row["remove_lowest_wrong_gain_pp"],
                "pp",
            ),
            (
                "remove_uniform_wrong_gain",
                "remove_uniform_wrong_message_gain",
                row["remove_uniform_wrong_gain_pp"],
                "pp",
            ),
            ("crossfit_problems", "complete_fold_problems", row["problems_n"], "n"),
            ("crossfit_problems_of", "sampled_problems", blocks.problem_count, "n"),
            (
                "crossfit_missing_problem",
                "problems_missing_an_outcome",
                blocks.problem_count - row["problems_n"],
                "n",
            ),
        ):
            yield Claim(f"{name}_{model}", quantity, value, unit, model, POOLED)


def crossfit_design_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield the design of the cross-fit that all models share, and the controls' extremes."""
    folds = _block_counts(list(complete_repeats(context).values()))
    if len(folds) == 1:
        count = folds.pop()
        yield Claim("crossfit_folds", "crossfit_folds_per_problem", count, "n")
        name, quantity = "crossfit_selection_blocks", "crossfit_selection_blocks_per_fold"
        yield Claim(name, quantity, count - 1, "n")
    yield Claim("crossfit_actions", "crossfit_actions", SLOTS - FULL_SLOTS + 1, "n")
    quantity = "value_of_fold_with_disagreeing_full_replicates"
    yield Claim("crossfit_split_fold_value", quantity, 1 / FULL_SLOTS, "accuracy")
    table = context.table("table_26", table_26)
    for _, row in table[table["control"] == CONTROLS[1]].iterrows():
        arm = row["arm"].lower()
        name = f"removal_identity_max_{row['model']}_{arm}"
        quantity = f"removal_identity_null_maximum_arm_{arm}"
        yield Claim(name, quantity, row["null_max_pp"], "pp", row["model"], POOLED)
    quantity, value = "largest_one_sided_p_across_variants", table["permutation_p"].max()
    yield Claim("shuffled_control_max_p", quantity, value, "p_value", BOTH, POOLED)


def _wrong_helpful_claims(table: pd.DataFrame, model: str) -> Iterator[Claim]:
    rows = table[table["sample"] == "wrong_helpful"].set_index("condition")
    if rows.empty:
        return
    anchors = int(rows["cases_n"].iloc[0])
    yield Claim("masking_wh_anchors", "masking_wrong_helpful_anchors", anchors, "n", model, POOLED)
    success = rows["success_pct"]
    for condition, value in success.items():
        if condition != "repeat":
            quantity = f"masking_wrong_helpful_success_{condition}"
            yield Claim(f"masking_wh_{condition}", quantity, value, "pct", model, POOLED)
        if condition not in ("repeat", "full"):
            name = f"masking_wh_drop_{condition}"
            quantity = f"masking_wrong_helpful_success_drop_{condition}"
            yield Claim(name, quantity, success["full"] - value, "pp", model, POOLED)


def _block_counts(studies: list[ReplayBlocks]) -> set[int]:
    return {blocks.block_count for blocks in studies}


CLAIMS: Final[tuple[ClaimFunction, ...]] = (
    sensitivity_claims,
    masking_claims,
    crossfit_claims,
    crossfit_design_claims,
)
