"""Budget-one policies: which single message an offline rule would have shown, and its worth.

Selections are uniform over a set of one to five messages, so every expectation is a multiple
of 1/60. Values are kept as those integers: sums are exact and ties are real.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from dhd.analysis.cells import Counts, ModelScan
from dhd.analysis.confidence import confidence_values
from dhd.analysis.signatures import answer_codes, sizes_of_agreement

BoolArray = npt.NDArray[np.bool_]

RANDOM: Final = "random_message"
CONSENSUS: Final = "answer_consensus"
CONFIDENCE: Final = "highest_self_reported_confidence"
CORRECTNESS: Final = "proposal_correctness_oracle"
BEST: Final = "hindsight_best_recorded"
POLICIES: Final = (RANDOM, CONSENSUS, CONFIDENCE, CORRECTNESS, BEST)

#: One in the integers that expectations are kept in: 60 = lcm(1, …, 5).
UNIT: Final = 60


@dataclass(frozen=True)
class PolicyValues:
    """Expected results of every policy on every problem, in units of 1/60; n problems.

    Attributes
    ----------
    problems
        Rows of the scan that the analysis counts; the other arrays have a row for each.
    accuracy
        Expected success of the selected message, by policy.
    helpful_discarded, harmful_admitted
        Expected number of helpful messages not selected and of harmful ones selected, against
        the independent solver, by policy.
    wrong_only
        Whether a wrong proposal succeeds and no correct one does.
    mixed
        Whether correct proposals differ in outcome.
    """

    problems: npt.NDArray[np.int64]
    accuracy: Mapping[str, Counts]
    helpful_discarded: Mapping[str, Counts]
    harmful_admitted: Mapping[str, Counts]
    wrong_only: BoolArray
    mixed: BoolArray

    @property
    def oracle_gap(self) -> Counts:
        """Best recorded outcome minus the correctness oracle, in units of 1/60."""
        gap: Counts = self.accuracy[BEST] - self.accuracy[CORRECTNESS]
        return gap


def offline_sample(scan: ModelScan) -> BoolArray:
    """Mark the problems with independent, five single and K = 5 outcomes (Table 13); n."""
    singles = (scan.single >= 0).all(axis=1)
    return np.asarray(singles & (scan.independent >= 0) & (scan.full[:, -1] >= 0))


def policy_values(scan: ModelScan) -> PolicyValues:
    """Evaluate the policies of Table 14 on every problem that has what they need.

    That is the offline sample with five judged proposals; all five messages take part, whether
    eligible or not.
    """
    kept = offline_sample(scan) & (scan.proposal_correct >= 0).all(axis=1)
    problems = np.flatnonzero(kept)
    single = scan.single[problems] == 1
    independent = scan.independent[problems, None] == 1
    helpful, harmful = single & ~independent, ~single & independent
    weights = {name: _weights(chosen) for name, chosen in _selections(scan, problems).items()}
    correct = scan.proposal_correct[problems] == 1
    correct_succeeds, correct_fails = (
        (correct & single).any(axis=1),
        (correct & ~single).any(axis=1),
    )
    return PolicyValues(
        problems=problems,
        accuracy={name: _expected(weight, single) for name, weight in weights.items()},
        helpful_discarded={
            name: UNIT * helpful.sum(axis=1) - _expected(weight, helpful)
            for name, weight in weights.items()
        },
        harmful_admitted={name: _expected(weight, harmful) for name, weight in weights.items()},
        wrong_only=(~correct & single).any(axis=1) & ~correct_succeeds,
        mixed=correct_succeeds & correct_fails,
    )


def _selections(scan: ModelScan, problems: npt.NDArray[np.int64]) -> dict[str, BoolArray]:
    """Mark the messages that each policy draws from; problems × 5, at least one a row."""
    correct = scan.proposal_correct[problems] == 1
    single = scan.single[problems]
    sizes = sizes_of_agreement(answer_codes(scan.proposed_answer[problems]))
    confidence = confidence_values(scan.confidence[problems])
    return {
        RANDOM: np.ones(correct.shape, dtype=np.bool_),
        CONSENSUS: _largest(sizes),
        CONFIDENCE: _largest(confidence),
        CORRECTNESS: correct | ~correct.any(axis=1, keepdims=True),
        BEST: _largest(single),
    }


def _largest(values: npt.NDArray[np.generic]) -> BoolArray:
    if len(values) == 0:
        return np.zeros(values.shape, dtype=np.bool_)
    return np.asarray(values == values.max(axis=1, keepdims=True))


def _weights(chosen: BoolArray) -> Counts:
    """Probability of each message in units of 1/60."""
    size = chosen.sum(axis=1, keepdims=True)
    return np.asarray(chosen * (UNIT // np.maximum(size, 1)), dtype=np.int64)


def _expected(weights: Counts, holds: BoolArray) -> Counts:
    expected: Counts = (weights * holds).sum(axis=1)
    return expected
