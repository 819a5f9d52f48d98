"""Layouts of Tables 17 to 28: repeated replay, masking, cross-fitting, evaluators."""

from __future__ import annotations

from dhd.report.layout import Join, Layout, Spread, key, value
from dhd.report.layouts_scan import BENCHMARK, MODEL

_FOUR_CELLS = ("wrong_helpful", "wrong_harmful", "correct_helpful", "correct_harmful")

REPEAT_LAYOUTS: dict[str, Layout] = {
    "table_17": Layout(
        "Table 17",
        "Controlled repeated replay at K=5. Disagreement: share of identical-input full-pool "
        "pairs with different correctness; brackets give Wilson 95% intervals. W+/W− and C+/C− "
        "count messages with wrong/correct proposed answers whose repeated interval lies wholly "
        "above/below zero, unadjusted for multiple comparisons.",
        (
            MODEL,
            BENCHMARK,
            value(
                "Disagreement [95% CI]", "{disagreement_pct:.1f}%", "[{ci_low:.1f}, {ci_high:.1f}]"
            ),
            value("W+", "{wrong_helpful_n:n}"),
            value("W−", "{wrong_harmful_n:n}"),
            value("C+", "{correct_helpful_n:n}"),
            value("C−", "{correct_harmful_n:n}"),
            value("Indeterminate", "{indeterminate_n:n}"),
        ),
    ),
    "table_18": Layout(
        "Table 18",
        "Mean repeated trajectory value by proposal correctness (percentage points){scope}. "
        "95% intervals resample problems and, within them, matched blocks; the pooled bootstrap "
        "is stratified by benchmark.",
        (MODEL, BENCHMARK),
        keys=("model", "benchmark"),
        scope=("model",),
        spread=Spread(
            "proposed_answer",
            (value("", "{mean_effect_pp:.2f}", "[{ci_low:.2f}, {ci_high:.2f}]"),),
        ),
    ),
    "table_19": Layout(
        "Table 19",
        "Calibration of repeated K=5 effects. Brackets give 95% count ranges from "
        "{permutation_draws:,d} within-block permutations. BH: messages that the "
        "Benjamini–Hochberg screen at {false_discovery_rate:g} selects. Strict: every slot of "
        "the problem has an evaluable output.",
        (MODEL,),
        keys=("model",),
        block="",
        spread=Spread(
            "category",
            (value("", "{observed_n:n}", "[{null_low_n:n}, {null_high_n:n}]"),),
            "{category} [null]",
        ),
        joins=(
            Join("BH W+/W−/C+/C−", "category", _FOUR_CELLS, "{bh_selected_n:n}"),
            Join("Strict W+/C−", "category", ("wrong_helpful", "correct_harmful"), "{strict_n:n}"),
        ),
    ),
    "table_20": Layout(
        "Table 20",
        "Problem-blocked multiplicity check of repeatable wrong-helpful effects. One p-value a "
        "problem (largest wrong-message effect), corrected over eligible problems of all models "
        "together and of each. Coverage: benchmarks with a BH-selected problem.",
        (
            key("Scope", "{model}"),
            value("Eligible", "{eligible_problems_n:n}"),
            value("Raw p≤.05", "{raw_p_le_05_n:n}"),
            value("BH", "{bh_selected_n:n}"),
            value("BY", "{by_selected_n:n}"),
            value("Coverage", "{coverage_benchmarks_n:n}/{coverage_of_n:n}"),
        ),
        block="",
    ),
    "table_21": Layout(
        "Table 21",
        "Original wrong-helpful (W+) observations against controlled repeated replay at K=5. "
        "Resolved: the repeated interval excludes zero. Unresolved is not neutral.",
        (
            MODEL,
            value("Original W+", "{original_wrong_helpful_n:n}"),
            value("Same direction", "{same_direction_n:n}"),
            value("Opposite", "{opposite_n:n}"),
            value("Unresolved", "{unresolved_n:n}"),
            value("Same among resolved", "{same_among_resolved_pct:.1f}%"),
        ),
        block="",
    ),
    "table_22": Layout(
        "Table 22",
        "Matched sensitivity. Mean shift: sensitivity run minus matched reference in percentage "
        "points, with a 95% problem-cluster interval. Exact sign includes neutral agreement; "
        "nonzero direction is over messages nonzero in both runs. Disagreement is that of the "
        "sensitivity run.",
        (
            key("Matched change", "{matched_change}, {model}"),
            key("Integrator", "{integrator}"),
            value("Messages", "{messages_n:n}"),
            value("Mean shift [95% CI]", "{mean_shift_pp:+.2f}", "[{ci_low:.2f}, {ci_high:.2f}]"),
            value("Exact sign", "{exact_sign_pct:.1f}%"),
            value("Nonzero direction", "{nonzero_direction_pct:.1f}%"),
            value("Disagreement", "{disagreement_pct:.1f}%"),
        ),
        block="",
    ),
    "table_23": Layout(
        "Table 23",
        "Integrator success (%) in the component-masking diagnostic{scope}. The full and repeat "
        "columns average their two identical-input outcomes. The rates describe the diagnostic "
        "sample, not a population.",
        (MODEL, key("Diagnostic sample (n)", "{sample} ({cases_n:n})")),
        keys=("model", "sample"),
        scope=("model",),
        spread=Spread("condition", (value("", "{success_pct:.0f}"),)),
    ),
    "table_24": Layout(
        "Table 24",
        "Accuracy (%) on a held-out block of the same problem with the cross-fitted "
        "one-removal choice. Intervals are problem-clustered 95% bootstrap intervals.",
        (
            MODEL,
            value("Full → cross-fit", "{full_accuracy_pct:.2f} → {crossfit_accuracy_pct:.2f}"),
            value("Gain [95% CI]", "{gain_pp:+.2f}", "[{ci_low:.2f}, {ci_high:.2f}]"),
        ),
        block="",
    ),
    "table_25": Layout(
        "Table 25",
        "Cross-fitted accuracy gain over the full five-message pool by benchmark (percentage "
        "points), over problems with all slots of every block.",
        (BENCHMARK,),
        keys=("benchmark",),
        spread=Spread("model", (value("", "{gain_pp:+.2f}"),)),
    ),
    "table_26": Layout(
        "Table 26",
        "Cross-fitted gain by full-pool replicate (A, B) against two controls that shuffle "
        "within blocks ({crossfit_null_draws:,d} draws; 95% ranges, percentage points). "
        "All-action permutes all six actions, removal-identity the five removals only.",
        (
            key("Model / arm", "{model} / {arm}"),
            value("Observed", "{observed_gain_pp:+.2f}"),
        ),
        keys=("model", "arm"),
        spread=Spread("control", (value("", "[{null_low_pp:.2f}, {null_high_pp:.2f}]"),)),
    ),
    "table_27": Layout(
        "Table 27",
        "Decoding settings by role.",
        (
            key("Role", "{role}"),
            value("Temperature", "{temperature:.1f}"),
            value("Maximum completion tokens", "{max_completion_tokens_n:n}"),
        ),
        block="",
    ),
    "table_28": Layout(
        "Table 28",
        "Evaluator agreement (%) on proposed/full/reduced triplets. Ranges are over pairs of "
        "evaluators. ∆ is the induced replay direction; a tuple agrees when all three judgments "
        "and ∆ agree. N counts triplets with all verdicts valid.",
        (
            key("Model family", "{model}"),
            value("N", "{triplets_n:n}"),
            value("Proposed answer", "{proposed_answer_min_pct:.1f}–{proposed_answer_max_pct:.1f}"),
            value("∆", "{direction_min_pct:.1f}–{direction_max_pct:.1f}"),
            value("Pairwise tuple", "{pairwise_tuple_min_pct:.1f}–{pairwise_tuple_max_pct:.1f}"),
            value("Three-way tuple", "{three_way_tuple_pct:.1f}"),
        ),
        block="",
    ),
}
