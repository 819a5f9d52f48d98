"""Matched sensitivity of the repeated effects: Table 22."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import lcm
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pandas as pd

from dhd.analysis.bootstrap import Interval, cluster_bootstrap_interval, ratio
from dhd.analysis.context import POOLED, Absent, AnalysisContext, TableFunction
from dhd.analysis.frames import PERCENT, frame_of, percent_of
from dhd.analysis.repeated.blocks import BoolArray, IntArray, ReplayBlocks
from dhd.analysis.repeated.studies import repeats_of, replay_studies

#: What a sensitivity study changes, by the name in the table.
MATCHED_CHANGES: Final = MappingProxyType({"order": "order", "integrator": "integrator_swap"})


@dataclass(frozen=True, slots=True)
class MatchedEffects:
    """Effects of the same messages in a sensitivity run and in its reference.

    Attributes
    ----------
    changed, reference
        Problems × messages: sums of block differences in half units.
    changed_blocks, reference_blocks
        Problems × messages: valid blocks behind them.
    """

    changed: IntArray
    reference: IntArray
    changed_blocks: IntArray
    reference_blocks: IntArray

    @property
    def shared(self) -> BoolArray:
        """Messages whose effect is defined in both runs."""
        return (self.changed_blocks > 0) & (self.reference_blocks > 0)

    @property
    def unit(self) -> int:
        """What 1 is in :meth:`shifts`."""
        sizes = {*self.changed_blocks[self.shared], *self.reference_blocks[self.shared]}
        return 2 * lcm(*(int(size) for size in sizes))

    @property
    def shifts(self) -> IntArray:
        """Problems × messages: τ̂ of the sensitivity run minus reference; 0 where not shared."""
        half = self.unit // 2
        changed = self.changed * (half // np.maximum(self.changed_blocks, 1))
        reference = self.reference * (half // np.maximum(self.reference_blocks, 1))
        return np.where(self.shared, changed - reference, 0)

    @property
    def directions(self) -> tuple[IntArray, IntArray]:
        """Signs of the shared effects in the sensitivity run and in the reference."""
        return np.sign(self.changed[self.shared]), np.sign(self.reference[self.shared])

    @property
    def correlation(self) -> float:
        """Pearson correlation of the shared effects; NaN when either does not vary."""
        some = self.shared
        changed = self.changed[some] / self.changed_blocks[some]
        reference = self.reference[some] / self.reference_blocks[some]
        if len(changed) < 2 or np.ptp(changed) == 0 or np.ptp(reference) == 0:
            return float("nan")
        return float(np.corrcoef(changed, reference)[0, 1])


def match(changed: ReplayBlocks, reference: ReplayBlocks) -> MatchedEffects:
    """Return the effects of the problems that both runs hold."""
    _, ours, theirs = np.intersect1d(
        changed.problem_uids, reference.problem_uids, assume_unique=True, return_indices=True
    )
    return MatchedEffects(
        changed=changed.difference_sums[ours],
        reference=reference.difference_sums[theirs],
        changed_blocks=changed.valid_blocks[ours],
        reference_blocks=reference.valid_blocks[theirs],
    )


def shift_interval(effects: MatchedEffects, resamples: int, rng: np.random.Generator) -> Interval:
    """Return the 95 % problem-cluster interval of the mean shift (fraction)."""
    counts = np.stack([effects.shifts.sum(axis=1), effects.shared.sum(axis=1)], axis=1)
    unit = effects.unit
    return cluster_bootstrap_interval(
        counts,
        lambda totals: ratio(totals[:, 0], totals[:, 1]) / unit,
        resamples=resamples,
        rng=rng,
    )


def table_22(context: AnalysisContext) -> pd.DataFrame:
    """Return the matched sensitivity of repeated effects (paper Table 22).

    The reference of both changes is the generating model's own ``repeats``. The shift and its
    interval are in percentage points; disagreement is that of the sensitivity run.
    """
    references = repeats_of(context)
    rows = [
        _row(context, change, blocks, references[blocks.model])
        for change, blocks in sensitivity_runs(context)
        if blocks.model in references
    ]
    if not rows:
        raise Absent("outcomes.parquet has no study 'order' or 'integrator_swap' beside 'repeats'")
    keys = ("matched_change", "model", "integrator", "benchmark")
    values = ("messages_n", "mean_shift_pp", "ci_low", "ci_high", "exact_sign_pct")
    more = ("nonzero_direction_pct", "disagreement_pct", "pearson_r", "problems_n")
    return frame_of(rows, (*keys, *values, *more, "nonzero_n", "same_direction_n"))


def sensitivity_runs(context: AnalysisContext) -> Iterator[tuple[str, ReplayBlocks]]:
    """Yield every sensitivity run with the change it makes."""
    present = set(context.records.outcomes["study"].unique())
    for change, study in MATCHED_CHANGES.items():
        if study in present:
            for blocks in replay_studies(context, study).values():
                yield change, blocks


def _row(
    context: AnalysisContext, change: str, blocks: ReplayBlocks, reference: ReplayBlocks
) -> dict[str, Any]:
    effects = match(blocks, reference)
    label = f"table_22/{change}/{blocks.model}/{blocks.integrator}"
    interval = shift_interval(effects, context.settings.bootstrap_resamples, context.rng(label))
    messages = int(effects.shared.sum())
    ours, theirs = effects.directions
    nonzero = (ours != 0) & (theirs != 0)
    same = int((nonzero & (ours == theirs)).sum())
    return {
        "matched_change": change,
        "model": blocks.model,
        "integrator": blocks.integrator,
        "benchmark": POOLED,
        "messages_n": messages,
        "mean_shift_pp": percent_of(int(effects.shifts.sum()), messages * effects.unit),
        "ci_low": PERCENT * interval.low,
        "ci_high": PERCENT * interval.high,
        "exact_sign_pct": percent_of(int((ours == theirs).sum()), messages),
        "nonzero_direction_pct": percent_of(same, int(nonzero.sum())),
        "disagreement_pct": percent_of(
            int(blocks.disagreeing_pairs.sum()), int(blocks.full_pairs.sum())
        ),
        "pearson_r": effects.correlation,
        "problems_n": int(effects.shared.any(axis=1).sum()),
        "nonzero_n": int(nonzero.sum()),
        "same_direction_n": same,
    }


TABLES: Final = MappingProxyType[str, TableFunction]({"table_22": table_22})
