"""Repeated studies built from arrays, for tests of what is computed from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from dhd.analysis.repeated.blocks import MISSING, SLOTS, ReplayBlocks
from dhd.messages import POOL_SIZE

M = MISSING


def make_blocks(
    outcomes: Any,
    proposals: Any = None,
    *,
    model: str = "oss",
    integrator: str | None = None,
    benchmarks: Sequence[str] | None = None,
) -> ReplayBlocks:
    """Return a study; ``outcomes`` is problems × blocks × (full, full, removal 1…5)."""
    values = np.asarray(outcomes, dtype=np.int8)
    count = len(values)
    judged = np.zeros((count, POOL_SIZE)) if proposals is None else np.asarray(proposals)
    return ReplayBlocks(
        model=model,
        integrator=integrator or model,
        problem_uids=np.array([f"p{at:03d}" for at in range(count)], dtype=object),
        benchmarks=np.array(benchmarks or ["alpha"] * count, dtype=object),
        outcomes=values,
        proposals=judged.astype(np.int8),
        strict=(values != MISSING).all(axis=(1, 2)),
    )


def random_blocks(
    rng: np.random.Generator,
    problems: int,
    blocks: int = 5,
    *,
    missing: float = 0.0,
    benchmarks: int = 1,
) -> ReplayBlocks:
    """Return problems with outcomes of random accuracy, without any effect of a message."""
    accuracy = rng.random((problems, 1, 1))
    outcomes = (rng.random((problems, blocks, SLOTS)) < accuracy).astype(np.int8)
    outcomes[rng.random(outcomes.shape) < missing] = MISSING
    proposals = rng.integers(2, size=(problems, POOL_SIZE))
    names = [f"b{at % benchmarks}" for at in range(problems)]
    return make_blocks(outcomes, proposals, benchmarks=names)


def all_shuffles(slots: npt.NDArray[np.int8]) -> Iterator[npt.NDArray[np.int8]]:
    """Yield every permutation of the observed slots of every block (blocks × slots)."""
    per_block = []
    for block in slots:
        observed = np.flatnonzero(block != MISSING)
        shuffled = []
        for order in permutations(block[observed].tolist()):
            values = block.copy()
            values[observed] = order
            shuffled.append(values)
        per_block.append(shuffled)
    for chosen in product(*per_block):
        yield np.array(chosen)
