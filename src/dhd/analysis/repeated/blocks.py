r"""Repeated replays as arrays: problems × blocks × slots.

A block of a repeated study replays one pool seven times: the full pool twice and each of the
five one-message removals once (paper, Appendix G). Everything in this package starts from
:class:`ReplayBlocks`. Block differences are kept in *half units*,

.. math:: 2\,d_b(i) = F_{b1} + F_{b2} - 2 R_{bi} \in \{-2, \dots, 2\},

so that sums, comparisons and ties are exact integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from dhd.messages import POOL_SIZE

Int8Array = npt.NDArray[np.int8]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

#: Identical-input full-pool calls in a block.
FULL_SLOTS: Final = 2
#: Slots of a block: the full-pool calls, then the removals of messages 1…5.
SLOTS: Final = FULL_SLOTS + POOL_SIZE
#: How a judgement that was not observed stands in an integer array.
MISSING: Final = -1


@dataclass(frozen=True)
class ReplayBlocks:
    """One repeated study of one model's pools with one integrator.

    Attributes
    ----------
    model, integrator
        Family that wrote the pools, family that integrates.
    problem_uids
        Identifier of every problem, in the order of ``problems.parquet``.
    benchmarks
        Benchmark key of every problem.
    outcomes
        Problems × blocks × slots: 1, 0, or :data:`MISSING`.
    proposals
        Problems × messages: ``proposal_correct`` as 1, 0, or :data:`MISSING`.
    strict
        Problems: whether every slot of every block has status ``ok``.
    """

    model: str
    integrator: str
    problem_uids: npt.NDArray[np.object_]
    benchmarks: npt.NDArray[np.object_]
    outcomes: Int8Array
    proposals: Int8Array
    strict: BoolArray

    @property
    def problem_count(self) -> int:
        """Number of problems."""
        return len(self.outcomes)

    @property
    def block_count(self) -> int:
        """Number of blocks of the study, B."""
        return int(self.outcomes.shape[1])

    @cached_property
    def full(self) -> Int8Array:
        """Problems × blocks × 2: the identical-input full-pool outcomes."""
        return self.outcomes[:, :, :FULL_SLOTS]

    @cached_property
    def removals(self) -> Int8Array:
        """Problems × blocks × messages: the outcomes without one message."""
        return self.outcomes[:, :, FULL_SLOTS:]

    @cached_property
    def valid(self) -> BoolArray:
        """Problems × blocks × messages: both fulls and the removal were observed."""
        both: BoolArray = (self.full != MISSING).all(axis=2, keepdims=True)
        valid: BoolArray = both & (self.removals != MISSING)
        return valid

    @cached_property
    def differences(self) -> Int8Array:
        """Problems × blocks × messages: block differences in half units, 0 where not valid."""
        fulls = self.full.sum(axis=2, dtype=np.int8)[:, :, None]
        return np.where(self.valid, fulls - 2 * self.removals, 0).astype(np.int8)

    @cached_property
    def valid_blocks(self) -> IntArray:
        """Problems × messages: number of valid blocks, n."""
        return np.asarray(self.valid.sum(axis=1, dtype=np.int64))

    @cached_property
    def difference_sums(self) -> IntArray:
        """Problems × messages: sum of the block differences in half units, 2nτ̂."""
        return np.asarray(self.differences.sum(axis=1, dtype=np.int64))

    @cached_property
    def effects(self) -> FloatArray:
        """Problems × messages: τ̂, the mean block difference; NaN without a valid block."""
        result = np.full(self.difference_sums.shape, np.nan)
        defined = self.valid_blocks > 0
        np.divide(self.difference_sums, 2 * self.valid_blocks, out=result, where=defined)
        return result

    @cached_property
    def complete(self) -> BoolArray:
        """Problems: every slot of every block was observed."""
        return np.asarray((self.outcomes != MISSING).all(axis=(1, 2)))

    @cached_property
    def full_pairs(self) -> BoolArray:
        """Problems × blocks: both identical-input outcomes were observed."""
        return np.asarray((self.full != MISSING).all(axis=2))

    @cached_property
    def disagreeing_pairs(self) -> BoolArray:
        """Problems × blocks: both were observed and differ."""
        return np.asarray(self.full_pairs & (self.full[:, :, 0] != self.full[:, :, 1]))

    def select(self, problems: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> ReplayBlocks:
        """Return the same study restricted to some problems (mask or positions)."""
        return ReplayBlocks(
            model=self.model,
            integrator=self.integrator,
            problem_uids=self.problem_uids[problems],
            benchmarks=self.benchmarks[problems],
            outcomes=self.outcomes[problems],
            proposals=self.proposals[problems],
            strict=self.strict[problems],
        )
