"""Cross-fitted one-removal opportunity (paper, Appendix I, Tables 24 and 25).

Actions are *keep all* (0) and *remove message i* (1…5). For each held-out block the action
with the best mean over the other blocks is chosen and scored on the held-out block alone.
Scores are integers in a common unit, so that ties are exact; they go to the first action.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from dhd.analysis.repeated.blocks import BoolArray, FloatArray, IntArray, ReplayBlocks

#: Common multiple of 2 and of every number of messages a class can have.
_CLASS_UNIT: Final = 120
KEEP_ALL: Final = 0


@dataclass(frozen=True, slots=True)
class CrossFit:
    """Choices and held-out scores of a cross-fit.

    Attributes
    ----------
    choice
        Problems × folds: the chosen action.
    keep, chosen
        Problems × folds: held-out score of keeping all and of the choice, in units of
        ``1 / unit``.
    unit
        Score of a success.
    """

    choice: npt.NDArray[np.intp]
    keep: IntArray
    chosen: IntArray
    unit: int

    @property
    def gains(self) -> IntArray:
        """Problems × folds: chosen minus keep, in units of ``1 / unit``."""
        return self.chosen - self.keep

    @property
    def gain(self) -> float:
        """Mean gain over all folds, as a fraction; NaN without a fold."""
        return _mean(self.gains, self.unit)

    @property
    def keep_accuracy(self) -> float:
        """Mean held-out accuracy of keeping all."""
        return _mean(self.keep, self.unit)

    @property
    def chosen_accuracy(self) -> float:
        """Mean held-out accuracy of the choices."""
        return _mean(self.chosen, self.unit)


def action_scores(blocks: ReplayBlocks) -> IntArray:
    """Return problems × blocks × 6 scores of the actions in half units (two fulls averaged).

    Only complete problems have scores of every action; pass ``blocks.select(blocks.complete)``.
    """
    keep = blocks.full.sum(axis=2, dtype=np.int64)[:, :, None]
    return np.concatenate([keep, 2 * blocks.removals.astype(np.int64)], axis=2)


def arm_scores(blocks: ReplayBlocks, replicate: int) -> IntArray:
    """Return problems × blocks × 6 binary scores with one full-pool replicate (0 = A, 1 = B)."""
    keep = blocks.full[:, :, replicate, None].astype(np.int64)
    return np.concatenate([keep, blocks.removals.astype(np.int64)], axis=2)


def cross_fit(scores: IntArray, unit: int, available: BoolArray | None = None) -> CrossFit:
    """Choose on the other blocks, score on the held-out one.

    Parameters
    ----------
    scores
        Problems × blocks × actions; action 0 keeps all.
    unit
        Score of a success.
    available
        Problems × actions; an action that is not available is never chosen. All by default.
    """
    others = scores.sum(axis=1, keepdims=True) - scores
    if available is not None:
        others = np.where(available[:, None, :], others, -1)
    choice = others.argmax(axis=2)
    chosen = np.take_along_axis(scores, choice[:, :, None], axis=2)[:, :, 0]
    return CrossFit(choice, scores[:, :, KEEP_ALL], chosen, unit)


def message_cross_fit(blocks: ReplayBlocks) -> CrossFit:
    """Return the cross-fit over keep-all and the five removals."""
    return cross_fit(action_scores(blocks), unit=2)


def correctness_cross_fit(blocks: ReplayBlocks) -> CrossFit:
    """Return the comparator that sees proposal correctness but not message identity.

    Actions are keep all, remove one wrong, remove one correct message; the value of a class is
    its mean over messages, and a class without messages is left out.
    """
    classes = [blocks.proposals == 0, blocks.proposals == 1]
    keep = blocks.full.sum(axis=2, dtype=np.int64) * (_CLASS_UNIT // 2)
    values = [keep, *(_class_scores(blocks, members) for members in classes)]
    present = np.stack(
        [np.ones(blocks.problem_count, dtype=np.bool_), *(c.any(axis=1) for c in classes)], axis=1
    )
    return cross_fit(np.stack(values, axis=2), _CLASS_UNIT, present)


def remove_lowest_wrong(blocks: ReplayBlocks) -> float:
    """Return the gain of always removing the lowest-index wrong message, where there is one."""
    scores = action_scores(blocks)
    wrong = blocks.proposals == 0
    action = np.where(wrong.any(axis=1), 1 + wrong.argmax(axis=1), KEEP_ALL)
    removed = np.take_along_axis(scores, action[:, None, None], axis=2)[:, :, 0]
    return _mean(removed - scores[:, :, KEEP_ALL], 2)


def remove_uniform_wrong(blocks: ReplayBlocks) -> float:
    """Return the expected gain of removing a uniformly drawn wrong message, where there is one."""
    wrong = blocks.proposals == 0
    keep = blocks.full.sum(axis=2, dtype=np.int64) * (_CLASS_UNIT // 2)
    removed = np.where(wrong.any(axis=1)[:, None], _class_scores(blocks, wrong), keep)
    return _mean(removed - keep, _CLASS_UNIT)


def hindsight_accuracy(blocks: ReplayBlocks) -> float:
    """Return the mean score of the best held-out action."""
    return _mean(action_scores(blocks).max(axis=2), 2)


def rescues_and_harms(fit: CrossFit) -> tuple[int, int]:
    """Return the folds that the choice turns from fully wrong to right, and the reverse."""
    rescues = (fit.keep == 0) & (fit.chosen == fit.unit)
    harms = (fit.keep == fit.unit) & (fit.chosen == 0)
    return int(rescues.sum()), int(harms.sum())


def _class_scores(blocks: ReplayBlocks, members: BoolArray) -> IntArray:
    """Return problems × blocks: mean removal outcome of some messages, 0 without any."""
    sizes = members.sum(axis=1)
    weights = np.where(sizes > 0, _CLASS_UNIT // np.maximum(sizes, 1), 0)
    ones = (blocks.removals * members[:, None, :]).sum(axis=2, dtype=np.int64)
    return np.asarray(ones * weights[:, None])


def _mean(values: IntArray | FloatArray, unit: int) -> float:
    return float(values.sum() / (values.size * unit)) if values.size else float("nan")
