"""Display names: the words in which tables and figures show the raw keys of the frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dhd.analysis.settings import AnalysisSettings

_SUMMARIES = {"pooled": "Pooled", "macro": "Macro average"}
_CELLS = {
    "wrong_helpful": "Wrong-helpful",
    "wrong_neutral": "Wrong-neutral",
    "wrong_harmful": "Wrong-harmful",
    "correct_helpful": "Correct-helpful",
    "correct_neutral": "Correct-neutral",
    "correct_harmful": "Correct-harmful",
    "indeterminate": "Indeterminate",
}

# Words for the enumerations of the frames, by column; a value without a word shows as it is.
WORDS: Mapping[str, Mapping[str, str]] = {
    "model": {"both": "All models"},
    "benchmark": _SUMMARIES,
    "k": {"2-5": "2–5"},
    "replay": {
        "single": "Single-message vs. independent solver",
        "loo": "In-pool leave-one-out, K=2–5",
    },
    "protocol": {
        "direct": "Direct",
        "iterative": "Iterative",
        "per": "PER",
        "broadcast": "Broadcast",
    },
    "policy": {
        "random_message": "Random message",
        "answer_consensus": "Answer consensus",
        "highest_self_reported_confidence": "Highest self-reported confidence",
        "proposal_correctness_oracle": "Proposal-correctness oracle",
        "hindsight_best_recorded": "Hindsight best recorded",
    },
    "contrast": {
        "correctness_minus_random": "Correctness − random",
        "consensus_minus_random": "Consensus − random",
        "confidence_minus_random": "Confidence − random",
        "best_recorded_minus_correctness": "Best recorded − correctness",
    },
    "gap_source": {
        "wrong_only_successful_route": "Wrong-only successful route",
        "mixed_correct_outcomes": "Mixed correct outcomes",
    },
    "proposed_answer": {
        "wrong": "Wrong-answer messages",
        "correct": "Correct-answer messages",
        "correct_minus_wrong": "Correct − wrong",
    },
    "category": {
        "separated": "Separated",
        "wrong_helpful": "W+",
        "wrong_harmful": "W−",
        "correct_helpful": "C+",
        "correct_harmful": "C−",
    },
    "matched_change": {"order": "Order", "integrator": "Integrator"},
    "sample": _CELLS,
    "panel": _CELLS,
    "condition": {
        "full": "Full",
        "repeat": "Repeat",
        "remove": "Remove",
        "neutral_replacement": "Neutral replacement",
        "hide_answer": "Hide answer",
        "hide_reasoning": "Hide reasoning",
    },
    "control": {"all_action": "All-action", "removal_identity": "Removal identity"},
    "role": {
        "recruiter": "Recruiter",
        "hypothesizer": "Hypothesizer",
        "integrator": "Integrator",
        "evaluator": "Evaluator",
        "integrator_replays": "Integrator, repeated studies",
        "protocol_solver": "Solver, protocols",
    },
}


def one_line(text: str) -> str:
    """Return `text` with every run of white space and control characters as one space."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


@dataclass(frozen=True, slots=True)
class Labels:
    """Looks up display names: the config's for models and benchmarks, ours for the rest."""

    settings: AnalysisSettings

    def show(self, column: str, value: object) -> str:
        """Return the display name of `value` in the frame column `column`, on one line."""
        key = str(value)
        if column in ("model", "integrator"):
            key = self.settings.model_names.get(key, key)
        elif column == "benchmark":
            key = self.settings.benchmark_names.get(key, key)
        return one_line(WORDS.get(column, {}).get(key, key))

    def order(self, column: str, values: Iterable[str]) -> list[str]:
        """Return the distinct `values`: those the config names in its order, then the others."""
        named = {
            "model": self.settings.model_names,
            "benchmark": self.settings.benchmark_names,
        }.get(column, {})
        places = {name: place for place, pair in enumerate(named.items()) for name in pair}
        return sorted(dict.fromkeys(values), key=lambda value: places.get(value, len(places)))
