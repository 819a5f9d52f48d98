"""Numbers of the paper's running text that the scan and the settings determine.

Identifiers are those of ``text_claims.csv`` among the published numbers, with the model's key
where the paper names a model. Claims of other analyses join through ``text_claims``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pandas as pd

from dhd.analysis import accuracy, effect_tables, policy_tables
from dhd.analysis.bootstrap import LEVELS
from dhd.analysis.context import (
    BOTH,
    MACRO,
    POOLED,
    Absent,
    AnalysisContext,
    Claim,
    ClaimFunction,
)
from dhd.analysis.decoding import ROLES
from dhd.analysis.effects import effect_shares
from dhd.analysis.frames import percent_of
from dhd.analysis.majority import MAJORITY, table_07
from dhd.analysis.policies import CORRECTNESS
from dhd.messages import POOL_SIZE
from dhd.records.schemas import LOO_SIZES


def text_claims(context: AnalysisContext, functions: Iterable[ClaimFunction]) -> pd.DataFrame:
    """Return all claims as a table; functions whose records are absent add nothing.

    Columns: ``claim_id, quantity, value, unit, model, benchmark``; an unknown value is NaN.
    """
    rows: list[Claim] = []
    for function in functions:
        try:
            rows += list(function(context))
        except Absent:
            # The registry reports the tables of the same records as absent, with the reason.
            continue
    columns = ("claim_id", "quantity", "value", "unit", "model", "benchmark")
    return pd.DataFrame(
        {name: [getattr(row, name) for row in rows] for name in columns}, columns=list(columns)
    )


def design_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield sizes of the design and settings of the analysis."""
    benchmarks = accuracy.table_02(context).set_index("benchmark")["problems_n"]
    yield Claim("design_benchmarks", "benchmarks", len(benchmarks), "n")
    yield Claim("design_model_families", "model_families", len(context.models), "n")
    yield Claim("design_messages_per_pool", "messages_per_pool", POOL_SIZE, "n")
    yield Claim("design_loo_k_min", "smallest_k_of_loo_replay", LOO_SIZES[0], "n")
    yield Claim("design_loo_k_max", "largest_k_of_loo_replay", LOO_SIZES[-1], "n")
    for key, size in benchmarks.items():
        yield Claim(f"problems_{key}", "problems", int(size), "n", BOTH, str(key))
    for key, name, quantity in (
        ("mascqa", "mascqa_unique", "unique_problems"),
        ("scibench", "scibench_distinct", "distinct_questions"),
    ):
        if key in benchmarks:
            yield Claim(name, quantity, int(benchmarks[key]), "n", "", key)
    yield Claim("loo_scan_outcomes_k5", "integrator_outcomes_per_k5_loo_scan", POOL_SIZE + 1, "n")
    yield Claim("loo_scan_removals_k5", "removals_per_k5_loo_scan", POOL_SIZE, "n")
    resamples = context.settings.bootstrap_resamples
    yield Claim("bootstrap_level", "bootstrap_interval_level", LEVELS[1] - LEVELS[0], "pct")
    yield Claim("loo_bootstrap_resamples", "problem_cluster_bootstrap_resamples", resamples, "n")
    yield Claim("loo_bootstrap_seed", "bootstrap_seed", context.settings.seed, "seed")
    yield Claim("offline_bootstrap_resamples", "problem_bootstrap_resamples", resamples, "n")
    yield Claim("majority_threshold", "evaluator_correct_proposals_for_majority", MAJORITY, "n")


def decoding_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield the temperatures, as far as the config gives them."""
    if context.decoding is None:
        raise Absent("decoding settings are in the config, and none was given")
    given = context.decoding
    temperatures = {role: float(given[role][0]) for role in ROLES if role in given}
    if "hypothesizer" in temperatures:
        value = temperatures.pop("hypothesizer")
        name = "temperature_hypothesizer"
        yield Claim(name, name, value, "temperature", BOTH)
    if len(others := set(temperatures.values())) == 1:
        name = "temperature_recruiter_integrator_evaluator"
        yield Claim("temperature_other_roles", name, others.pop(), "temperature", BOTH)


def accuracy_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield gains from richer pools and the availability of correct candidates."""
    macro = accuracy.table_01(context)
    macro = macro[macro["benchmark"] == MACRO]
    for model, delta in zip(macro["model"], macro["delta_pp"], strict=True):
        yield Claim(f"macro_delta_{model}", "macro_accuracy_k5_minus_k0", delta, "pp", model, MACRO)
    for model, rows in context.table("figure_06", accuracy.figure_06).groupby("model", sort=False):
        available = rows["candidate_available_pct"]
        excess = available - rows["k5_accuracy_pct"]
        for short, quantity, values, unit in (
            ("candidate_available", "candidate_available", available, "pct"),
            ("candidate_minus_k5", "candidate_available_minus_k5_accuracy", excess, "pp"),
        ):
            over = "_over_benchmarks" if short == "candidate_available" else ""
            for end, value in (("min", values.min()), ("max", values.max())):
                name = f"{short}_{end}_{model}"
                yield Claim(name, f"{quantity}_{end}{over}", value, unit, str(model))


def sample_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield the sizes of the leave-one-out sample and how complete its messages are."""
    flow = context.table("table_05", accuracy.table_05).set_index(["benchmark", "model"])
    for model, scan in context.require_scans().items():
        row = flow.loc[(POOLED, model)]
        headline = scan.sample.complete[:, None] & scan.eligible
        messages = int(headline.sum())
        complete_fields = int((headline & scan.fields_complete).sum())
        without_pool = int(row["protocol_n"] - row["loo_eligible_n"])
        for name, quantity, value, unit in (
            (f"loo_eligible_{model}", "eligible_loo_messages_k2_5", scan.loo_counts.sum(), "n"),
            (f"{model}_complete_loo_problems", "complete_loo_problems", row["complete_n"], "n"),
            (f"{model}_no_complete_pool", "problem_records_not_loo_eligible", without_pool, "n"),
            (
                f"{model}_partial_problems",
                "eligible_problems_with_missing_removal",
                row["partial_n"],
                "n",
            ),
            (f"{model}_missing_pairs", "missing_removal_pairs", row["missing_pairs_n"], "n"),
            (f"headline_messages_{model}", "messages_in_headline_loo_matrix", messages, "n"),
            (
                f"complete_fields_{model}",
                "messages_with_complete_structured_fields",
                percent_of(complete_fields, messages),
                "pct",
            ),
        ):
            yield Claim(name, quantity, value, unit, model, POOLED)


def effect_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield how often and in which direction wrong-answer messages flip the outcome."""
    counts = context.table("table_10", effect_tables.table_10)
    wrong = context.table("table_09", effect_tables.table_09)
    for _, row in wrong[wrong["benchmark"] == POOLED].iterrows():
        model = row["model"]
        name, quantity = f"helpful_share_wrong_flips_{model}", "helpful_share_of_wrong_answer_flips"
        yield Claim(name, quantity, row["helpful_share_pct"], "pct", model, POOLED)
        for end in ("ci_low", "ci_high"):
            bound = f"{quantity}_bootstrap_{end}"
            yield Claim(f"{name}_{end}", bound, row[end], "pct", model, POOLED)
        rate = percent_of(row["helpful_n"], row["wrong_messages_n"])
        quantity = "helpful_flips_of_all_wrong_messages"
        yield Claim(f"helpful_rate_all_wrong_{model}", quantity, rate, "pct", model, POOLED)
    cells = effect_shares(counts[counts["benchmark"] != POOLED], "wrong")["helpful_n"] > 0
    quantity = "benchmark_model_cells_with_wrong_helpful"
    yield Claim("cells_with_wrong_helpful", quantity, int(cells.sum()), "n")


def integration_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield the majority diagnostic, interference and synergy."""
    for _, row in context.table("table_07", table_07).iterrows():
        model = row["model"]
        for name, quantity, column in (
            ("majority_correct", "pools_with_correct_majority", "majority_correct_pct"),
            (
                "full_pool_accuracy",
                "full_pool_accuracy_of_complete_pools",
                "integrator_accuracy_pct",
            ),
        ):
            yield Claim(f"{name}_{model}", quantity, row[column], "pct", model, POOLED)
    success = context.table("table_13", policy_tables.table_13)
    for _, row in success[success["benchmark"] == POOLED].iterrows():
        model, n = row["model"], row["problems_n"]
        for name, quantity, column in (
            ("interference", "single_succeeds_full_fails", "observable_interference_n"),
            ("synergy", "single_fails_full_succeeds", "observable_synergy_n"),
        ):
            share = percent_of(row[column], n)
            yield Claim(f"{name}_{model}", quantity, share, "pct", model, POOLED)
        name = f"offline_problems_{model}"
        yield Claim(name, "complete_offline_problems", n, "n", model, POOLED)


def policy_claims(context: AnalysisContext) -> Iterator[Claim]:
    """Yield the correctness oracle's gap, and in how many cells the policies are so ordered."""
    policies = context.table("table_14", policy_tables.table_14)
    for _, row in policies[policies["policy"] == CORRECTNESS].iterrows():
        model, quantity = row["model"], "correctness_oracle_gap_to_best_recorded"
        gap = row["best_recorded_gap_pp"]
        yield Claim(f"oracle_gap_{model}", quantity, gap, "pp", model, POOLED)
    cells = context.table("table_15_by_benchmark", policy_tables.table_15_by_benchmark)
    ordering = cells["contrast"].isin(
        ["correctness_minus_random", "best_recorded_minus_correctness"]
    )
    above = cells[ordering].groupby(["model", "benchmark"])["ci_low"].min() > 0
    quantity = "benchmark_model_cells_with_same_ordering"
    yield Claim("offline_same_ordering_cells", quantity, int(above.sum()), "n")


CLAIMS: Final[tuple[ClaimFunction, ...]] = (
    design_claims,
    decoding_claims,
    accuracy_claims,
    sample_claims,
    effect_claims,
    integration_claims,
    policy_claims,
)
