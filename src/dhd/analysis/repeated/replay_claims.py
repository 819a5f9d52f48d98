"""Numbers of the running text about controlled repeats (Tables 17 to 21)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dhd.analysis.bootstrap import LEVELS
from dhd.analysis.context import BOTH, POOLED, AnalysisContext, Claim, ClaimFunction
from dhd.analysis.repeated.blocks import FULL_SLOTS, MISSING, SLOTS
from dhd.analysis.repeated.multiplicity import selected
from dhd.analysis.repeated.problem_tables import problem_p_values, table_20, table_21
from dhd.analysis.repeated.replay_tables import CORRECTIONS, message_p, table_17, table_19
from dhd.analysis.repeated.separation_control import SEPARATED
from dhd.analysis.repeated.studies import repeats_of
from dhd.messages import POOL_SIZE


def design_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield the sizes of the repeated study that all models and benchmarks share."""
    studies = repeats_of(context).values()
    yield Claim("repeat_k", "repeated_replay_k", POOL_SIZE, "n")
    yield Claim("repeat_full_per_block", "full_pool_calls_per_block", FULL_SLOTS, "n")
    yield Claim("repeat_removals_per_block", "one_message_removals_per_block", POOL_SIZE, "n")
    yield Claim("repeat_outcomes_per_block", "integrator_outcomes_per_block", SLOTS, "n")
    yield Claim("permutation_slots", "outcome_slots_permuted_per_block", SLOTS, "n")
    level = LEVELS[1] - LEVELS[0]
    name = "per_message_bootstrap_interval_level"
    yield Claim("repeat_interval_level", name, level, "pct")
    draws = context.settings.permutation_draws
    yield Claim("null_datasets", "permutation_null_datasets", draws, "n", BOTH, POOLED)
    if context.settings.inference.method == "monte_carlo":
        name, quantity = "problem_test_permutations", "permutations_for_problem_level_p"
        yield Claim(name, quantity, context.settings.inference.monte_carlo_draws, "n")
        name, quantity = "message_test_permutations", "within_block_permutations_for_message_p"
        yield Claim(name, quantity, draws, "n")
    if len(numbers := {blocks.block_count for blocks in studies}) == 1:
        blocks_n = numbers.pop()
        yield Claim("repeat_blocks", "repeated_replay_blocks_per_problem", blocks_n, "n")
        name = "repeat_observations_per_problem"
        yield Claim(name, "observations_per_problem", SLOTS * blocks_n, "n")
    if len(numbers := {blocks.problem_count for blocks in studies}) == 1:
        problems = numbers.pop()
        name, quantity = "repeat_problems_per_model", "repeated_replay_problems_per_model"
        yield Claim(name, quantity, problems, "n", BOTH, POOLED)
        name, quantity = "repeat_intervals", "per_message_bootstrap_intervals_per_model"
        yield Claim(name, quantity, POOL_SIZE * problems, "n", BOTH, POOLED)


def disagreement_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield identical-input disagreement, events and per-benchmark sizes."""
    table = context.table("table_17", table_17)
    by_benchmark = table[table["benchmark"] != POOLED]
    for name, quantity, column, factor in (
        ("problems", "repeated_replay_problems_per_benchmark", "problems_n", 1),
        ("messages", "problem_message_estimates_per_benchmark", "problems_n", POOL_SIZE),
        ("pairs", "identical_input_pairs_per_benchmark", "pairs_n", 1),
    ):
        if len(sizes := set(by_benchmark[column])) == 1:
            value = factor * int(sizes.pop())
            yield Claim(f"repeat_{name}_per_benchmark", quantity, value, "n", BOTH)
    for _, row in table[table["benchmark"] == POOLED].iterrows():
        model = row["model"]
        for name, quantity, column, unit in (
            (
                "identical_input_disagreement",
                "identical_input_full_pool_disagreement",
                "disagreement_pct",
                "pct",
            ),
            ("disagreeing_pairs", "identical_input_disagreeing_pairs", "disagreeing_pairs_n", "n"),
            ("identical_input_pairs", "identical_input_pairs", "pairs_n", "n"),
        ):
            yield Claim(f"{name}_{model}", quantity, row[column], unit, model, POOLED)
    for model, rows in by_benchmark.groupby("model", sort=False):
        ordered = rows.dropna(subset="disagreement_pct").sort_values(
            "disagreement_pct", kind="stable"
        )
        for end, index in (("min", 0), ("max", -1)):
            if len(ordered):
                row = ordered.iloc[index]
                quantity, value = "identical_input_full_pool_disagreement", row["disagreement_pct"]
                name = f"disagreement_{end}_{model}"
                yield Claim(name, quantity, value, "pct", str(model), row["benchmark"])


def event_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield how many outcomes of the repeats were observed, and how many were not."""
    for model, blocks in repeats_of(context).items():
        missing = int((blocks.outcomes == MISSING).sum())
        for name, quantity, value in (
            ("repeat_events", "valid_repeated_replay_events", blocks.outcomes.size - missing),
            ("repeat_missing", "unobserved_repeated_replay_events", missing),
            ("separated_of", "problem_message_pairs", blocks.proposals.size),
        ):
            yield Claim(f"{name}_{model}", quantity, value, "n", model, POOLED)


def separation_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield separated counts against their null, and the message-level screens."""
    table = context.table("table_19", table_19).set_index(["model", "category"])
    p_values = {}
    for model in repeats_of(context):
        separated = table.loc[(model, SEPARATED)]
        p_values[model] = float(separated["permutation_p"])
        name, quantity = f"separated_{model}", "interval_separated_messages"
        yield Claim(name, quantity, separated["observed_n"], "n", model, POOLED)
        name, quantity = f"permutation_p_{model}", "add_one_permutation_p_separated_count"
        yield Claim(name, quantity, p_values[model], "p_value", model, POOLED)
        helpful = table.loc[(model, "wrong_helpful")]
        for suffix, quantity, column in (
            ("", "repeatable_wrong_helpful_messages", "observed_n"),
            ("_null_low", "repeatable_wrong_helpful_permutation_range_low", "null_low_n"),
            ("_null_high", "repeatable_wrong_helpful_permutation_range_high", "null_high_n"),
            ("_bh", "bh_selected_wrong_helpful_messages", "bh_selected_n"),
            ("_strict", "strict_evaluable_wrong_helpful_messages", "strict_n"),
        ):
            yield Claim(f"wplus_{model}{suffix}", quantity, helpful[column], "n", model, POOLED)
        harmful = table.loc[(model, "correct_harmful")]
        name, quantity = f"cminus_{model}", "repeatable_correct_harmful_messages"
        yield Claim(name, quantity, harmful["observed_n"], "n", model, POOLED)
        name, quantity = f"cminus_incomplete_{model}", "correct_harmful_with_incomplete_answer"
        incomplete = harmful["observed_n"] - harmful["strict_n"]
        yield Claim(name, quantity, incomplete, "n", model, POOLED)
    largest = max(p_values.values())
    quantity = "largest_add_one_permutation_p_separated_count"
    yield Claim("permutation_p", quantity, largest, "p_value", BOTH, POOLED)
    matching = round(largest * (1 + context.settings.permutation_draws)) - 1
    quantity = "null_datasets_matching_observed_count"
    yield Claim("null_datasets_matching", quantity, matching, "n", BOTH, POOLED)


def screen_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield how many messages the BH and BY screens of each model keep."""
    rate = context.settings.false_discovery_rate
    total = 0
    for model, blocks in repeats_of(context).items():
        p_values = message_p(context, blocks)
        kept = {name: int(selected(p_values, name, rate).sum()) for name in CORRECTIONS}
        total += kept["by"]
        name = f"message_multiplicity_survivors_{model}"
        yield Claim(name, "bh_selected_messages", kept["bh"], "n", model, POOLED)
        yield Claim(f"by_messages_{model}", "by_selected_messages", kept["by"], "n", model, POOLED)
    yield Claim("by_messages", "by_selected_messages", total, "n", BOTH, POOLED)


def problem_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield what the global problem-level screen keeps of each model."""
    p_values = context.table("problem_p_values", problem_p_values)
    for model in repeats_of(context):
        kept = p_values[(p_values["model"] == model) & p_values["bh_global"]]
        name = f"bh_problems_{model}_global"
        quantity = "bh_selected_wrong_helpful_problems_global_screen"
        yield Claim(name, quantity, len(kept), "n", model, POOLED)
        name, quantity = f"bh_coverage_{model}", "benchmarks_with_bh_selected_problem"
        yield Claim(name, quantity, kept["benchmark"].nunique(), "n", model)
    both = context.table("table_20", table_20).set_index("model").loc[BOTH]
    quantity = "by_selected_wrong_helpful_problems"
    yield Claim("by_problems_global", quantity, both["by_selected_n"], "n", BOTH, POOLED)


def overlap_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield how many repeated problems the headline matrix lacks."""
    for _, row in context.table("table_21", table_21).iterrows():
        model, quantity = row["model"], "sampled_problems_absent_from_headline_matrix"
        value = row["overlap_excluded_n"]
        yield Claim(f"overlap_excluded_{model}", quantity, value, "n", model, POOLED)


CLAIMS: Final[tuple[ClaimFunction, ...]] = (
    design_claims,
    disagreement_claims,
    event_claims,
    separation_claims,
    screen_claims,
    problem_claims,
    overlap_claims,
)
