"""Layouts of Tables 1 to 16: accuracy, replay matrices, protocols, offline diagnostics."""

from __future__ import annotations

from dhd.report.layout import Column, Layout, Spread, key, value

MODEL = key("Model", "{model}")
BENCHMARK = key("Benchmark", "{benchmark}")
TOTAL = {"pooled": "Total"}


def _six_cells(helpful: str, neutral: str, harmful: str, grouped: bool) -> tuple[Column, ...]:
    heads = {"helpful": helpful, "neutral": neutral, "harmful": harmful}
    return tuple(
        value(
            head if grouped else f"{answer[0].upper()}{head}",
            f"{{{answer}_{effect}_n:n}}",
            group=f"Proposed answer {answer}" if grouped else "",
        )
        for answer in ("wrong", "correct")
        for effect, head in heads.items()
    )


_SIGNED = _six_cells("+", "0", "−", grouped=False)

SCAN_LAYOUTS: dict[str, Layout] = {
    "table_01": Layout(
        "Table 1",
        "Final accuracy (%) of independent solving (K=0) and of integration with all five "
        "messages (K=5). ∆ is K=5 minus K=0 in points, computed from unrounded accuracies.",
        (BENCHMARK,),
        keys=("benchmark",),
        spread=Spread(
            "model",
            (
                value("K=0", "{k0_accuracy_pct:.1f}"),
                value("K=5", "{k5_accuracy_pct:.1f}"),
                value("∆", "{delta_pp:+.1f}"),
            ),
        ),
    ),
    "table_02": Layout(
        "Table 2",
        "Benchmarks. N is the number of unique problems in each evaluated slice.",
        (
            BENCHMARK,
            key("Domain and format", "{domain_and_format}"),
            value("N", "{problems_n:n}"),
        ),
        block="",
        optional=("domain_and_format",),
    ),
    "table_03": Layout(
        "Table 3",
        "Signed LOO outcomes at K=5 by benchmark{scope}. W+ and C+ count helpful messages with "
        "wrong and correct proposed answers, W− and C− the harmful ones. Only eligible messages "
        "count.",
        (
            MODEL,
            BENCHMARK,
            value("labels", "{labels_n:n}"),
            value("W+", "{wrong_helpful_n:n}"),
            value("W−", "{wrong_harmful_n:n}"),
            value("C+", "{correct_helpful_n:n}"),
            value("C−", "{correct_harmful_n:n}"),
            value("non-neutral", "{non_neutral_n:n}"),
        ),
        scope=("model",),
    ),
    "table_04": Layout(
        "Table 4",
        "Counts of messages by proposal correctness and observed replay effect. The two rows of "
        "a model are different replay comparisons over the same problems.",
        (
            MODEL,
            key("Replay comparison", "{replay}"),
            *_six_cells("helpful", "neutral", "harmful", grouped=True),
        ),
    ),
    "table_05": Layout(
        "Table 5",
        "Protocol and leave-one-out (LOO) analysis samples{scope}. The protocol columns keep "
        "every problem and count missing final answers as incorrect; missing replay outcomes "
        "stay missing.",
        (
            MODEL,
            BENCHMARK,
            value("Protocol", "{protocol_n:n}"),
            value("LOO eligible", "{loo_eligible_n:n}"),
            value("Complete", "{complete_n:n}"),
            value("Partial", "{partial_n:n}"),
            value("Missing pairs", "{missing_pairs_n:n}"),
            value(
                "Protocol K=0/5",
                "{protocol_k0_accuracy_pct:.1f} / {protocol_k5_accuracy_pct:.1f}",
            ),
            value(
                "Complete K=0/5",
                "{complete_k0_accuracy_pct:.1f} / {complete_k5_accuracy_pct:.1f}",
            ),
        ),
        scope=("model",),
        words=TOTAL,
    ),
    "table_06": Layout(
        "Table 6",
        "Accuracy (%) of nested pools. K=0 is independent solving, K≥1 a prefix of the one "
        "five-message pool. Missing final answers count as incorrect; macro averages are "
        "unweighted over benchmarks.",
        (MODEL, BENCHMARK),
        keys=("model", "benchmark"),
        spread=Spread("k", (value("", "{accuracy_pct:.1f}"),), "K={k}"),
    ),
    "table_07": Layout(
        "Table 7",
        "Pooled majority diagnostic at K=5. Majority-correct: at least three of five proposed "
        "answers are correct. Integrator only and majority only count correctness "
        "disagreements. Strict majority: at least three answers are the same.",
        (
            MODEL,
            value("N", "{problems_n:n}"),
            value("Majority-correct", "{majority_correct_pct:.1f}"),
            value("Integrator acc.", "{integrator_accuracy_pct:.1f}"),
            value("Integrator only", "{integrator_only_n:n}"),
            value("Majority only", "{majority_only_n:n}"),
            value("Strict-majority N", "{strict_majority_n:n}"),
            value("Follow rate", "{follow_rate_pct:.1f}"),
        ),
        block="",
    ),
    "table_08": Layout(
        "Table 8",
        "Single-message replay by benchmark{scope}. W/C: the message's own proposed answer is "
        "wrong/correct; +, 0 and −: helpful, neutral and harmful relative to the independent "
        "solver.",
        (MODEL, BENCHMARK, *_SIGNED),
        scope=("model",),
        words=TOTAL,
    ),
    "table_09": Layout(
        "Table 9",
        "Direction of correctness flips from messages with wrong proposed answers in LOO replay "
        "pooled over K=2–5{scope}. Intervals: {bootstrap_resamples:,d} bootstrap resamples of "
        "whole problems.",
        (
            MODEL,
            BENCHMARK,
            value("Wrong-answer messages", "{wrong_messages_n:n}"),
            value("Flips", "{flips_n:n}"),
            value("Helpful", "{helpful_share_pct:.1f}%"),
            value("95% interval", "[{ci_low:.1f}, {ci_high:.1f}]"),
        ),
        scope=("model",),
    ),
    "table_10": Layout(
        "Table 10",
        "Leave-one-out replay pooled over K=2–5 by benchmark{scope}. W/C: wrong/correct proposed "
        "answer; +, 0 and −: helpful, neutral and harmful observed replay effects.",
        (MODEL, BENCHMARK, *_SIGNED),
        scope=("model",),
        words=TOTAL,
    ),
    "table_11": Layout(
        "Table 11",
        "System-level final accuracy (%) of end-to-end protocols. N is the number of problems "
        "in the matched slice: those judged for every protocol and model. The protocols differ "
        "in cost.",
        (BENCHMARK, key("Model family", "{model}"), value("N", "{problems_n:n}")),
        keys=("benchmark", "model"),
        block="benchmark",
        spread=Spread("protocol", (value("", "{accuracy_pct:.1f}"),)),
    ),
    "table_12": Layout(
        "Table 12",
        "Accuracy and inference effort of end-to-end protocols{scope}. Tokens and calls are "
        "means per problem.",
        (
            MODEL,
            BENCHMARK,
            key("Protocol", "{protocol}"),
            value("Accuracy (%)", "{accuracy_pct:.1f}"),
            value("Tokens (thousands)", "{tokens_thousands_per_problem:,.1f}"),
            value("Logged calls", "{logged_calls_per_problem:,.1f}"),
        ),
        scope=("model", "benchmark"),
        block="benchmark",
    ),
    "table_13": Layout(
        "Table 13",
        "Single-message success crossed with K=5 integration success: shared success (SS), "
        "observable interference (OI), observable synergy (OS), shared failure (SF). Complete "
        "matched problems only.",
        (
            MODEL,
            BENCHMARK,
            value("N", "{problems_n:n}"),
            value("SS", "{shared_success_n:n}"),
            value("OI", "{observable_interference_n:n}"),
            value("OS", "{observable_synergy_n:n}"),
            value("SF", "{shared_failure_n:n}"),
        ),
    ),
    "table_14": Layout(
        "Table 14",
        "Recorded outcomes of budget-one policies, pooled. Accuracy and gaps in percentage "
        "points; discarded helpful and admitted harmful are mean message counts per problem. "
        "Hindsight is not a policy that could be deployed.",
        (
            MODEL,
            key("Policy", "{policy}"),
            value("Accuracy", "{accuracy_pct:.1f}"),
            value("Helpful discarded", "{helpful_discarded_per_problem:.3f}"),
            value("Harmful admitted", "{harmful_admitted_per_problem:.3f}"),
            value("Best-recorded gap", "{best_recorded_gap_pp:.1f}"),
        ),
    ),
    "table_15": Layout(
        "Table 15",
        "Paired contrasts of the pooled recorded outcomes (percentage points) with 95% "
        "percentile intervals from {bootstrap_resamples:,d} problem resamples.",
        (
            MODEL,
            key("Contrast", "{contrast}"),
            value("Difference", "{difference_pp:.2f}"),
            value("95% CI", "[{ci_low:.2f}, {ci_high:.2f}]"),
        ),
        block="contrast",
    ),
    "table_16": Layout(
        "Table 16",
        "Sources of the proposal-correctness oracle's gap to the best recorded single-message "
        "outcome. Contributions are accuracy points; shares sum to each model's gap.",
        (
            MODEL,
            key("Gap source", "{gap_source}"),
            value("Problems", "{problems_n:n}"),
            value("Contribution", "{contribution_pp:.2f}"),
            value("Share", "{share_pct:.1f}%"),
        ),
    ),
}
