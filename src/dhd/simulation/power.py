"""The power of a repeats design: what B blocks of n problems are expected to find.

Given the chances behind a message, its block differences are independent draws from a known
distribution on five values, so that the chance of being separated (Table 17) is a sum over count
vectors: exact, without simulation. What the problem-blocked test with its correction finds
(Table 20) is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import factorial
from typing import Final

import numpy as np
import numpy.typing as npt

from dhd.analysis.repeated.blocks import FULL_SLOTS, SLOTS, ReplayBlocks
from dhd.analysis.repeated.multiplicity import selected
from dhd.analysis.repeated.problem_test import exact_problem_p, problem_patterns
from dhd.analysis.repeated.separation import VALUES, separation_of_counts
from dhd.simulation.pools import FloatArray, Int8Array, PlantedPools

_CHUNK: Final = 2_000
"""Messages whose count vectors are summed at a time."""


@dataclass(frozen=True, slots=True)
class DesignPower:
    """What one design is expected to find in a sample of problems.

    Attributes
    ----------
    problems, blocks
        The design.
    calls
        Integrator calls: seven a block.
    wrong_helpful, wrong_harmful, correct_helpful, correct_harmful
        Expected separated messages of each kind.
    false_direction
        Expected separated messages whose true effect is below `least_effect`, or opposite.
    planted
        Expected messages whose true effect is at least `least_effect` in size.
    power
        Expected share of those that are separated in their direction; NaN without any.
    blocked_problems
        Mean number of problems that the problem-blocked test selects (BH).
    """

    problems: int
    blocks: int
    calls: int
    wrong_helpful: float
    wrong_harmful: float
    correct_helpful: float
    correct_harmful: float
    false_direction: float
    planted: float
    power: float
    blocked_problems: float


@dataclass(frozen=True, slots=True)
class PowerSettings:
    """How power is computed.

    Attributes
    ----------
    least_effect
        Smallest true effect that a design should find, 0…1.
    rate
        False discovery rate of the problem-blocked test.
    draws
        Studies that are drawn for that test; 0 leaves it out (NaN).
    seed
        Seed of these draws.
    """

    least_effect: float = 0.3
    rate: float = 0.05
    draws: int = 20
    seed: int = 20260814


def separation_chances(
    full: npt.ArrayLike, removals: npt.ArrayLike, blocks: int
) -> tuple[FloatArray, FloatArray]:
    """Return the exact chances that messages are separated as helpful and as harmful.

    Parameters
    ----------
    full, removals
        Chances of a right outcome with the full pool and without the message; same shape.
    blocks
        Blocks of the design, each two full-pool calls and one removal; at least 2.

    Returns
    -------
    helpful, harmful
        Arrays of the same shape.

    Raises
    ------
    ValueError
        When there are fewer than two blocks, which separate nothing.
    """
    if blocks < 2:
        raise ValueError(f"blocks = {blocks}: at least 2 blocks can separate a message")
    p, r = np.broadcast_arrays(np.asarray(full, np.float64), np.asarray(removals, np.float64))
    chances = _difference_chances(p.reshape(-1), r.reshape(-1))
    counts, ways, labels = _count_vectors(blocks)
    found = np.empty((2, len(chances)))
    for start in range(0, len(chances), _CHUNK):
        part = chances[start : start + _CHUNK]
        likelihood = np.ones((len(part), len(counts)))
        for value in range(len(VALUES)):
            powers = part[:, value, None] ** np.arange(blocks + 1)
            likelihood *= powers[:, counts[:, value]]
        likelihood *= ways
        found[0, start : start + _CHUNK] = likelihood[:, labels > 0].sum(axis=1)
        found[1, start : start + _CHUNK] = likelihood[:, labels < 0].sum(axis=1)
    return found[0].reshape(p.shape), found[1].reshape(p.shape)


def _difference_chances(p: FloatArray, r: FloatArray) -> FloatArray:
    """Return the chances of a block difference of −2…2 half units: messages × 5."""
    none, one, both = (1 - p) ** 2, 2 * p * (1 - p), p**2
    return np.stack(
        [none * r, one * r, both * r + none * (1 - r), one * (1 - r), both * (1 - r)], axis=1
    )


@lru_cache(maxsize=16)
def _count_vectors(blocks: int) -> tuple[npt.NDArray[np.int64], FloatArray, Int8Array]:
    """Return all count vectors of a message, in how many orders each can come, its label."""
    grid = np.indices((blocks + 1,) * (len(VALUES) - 1)).reshape(len(VALUES) - 1, -1).T
    grid = grid[grid.sum(axis=1) <= blocks]
    counts = np.column_stack([grid, blocks - grid.sum(axis=1)]).astype(np.int64)
    factorials = np.array([float(factorial(n)) for n in range(blocks + 1)])
    ways = factorials[blocks] / factorials[counts].prod(axis=1)
    return counts, ways, separation_of_counts(counts)


def design_power(
    pools: PlantedPools, problems: int, blocks: int, settings: PowerSettings
) -> DesignPower:
    """Return what a design finds on average in problems drawn from a population.

    Parameters
    ----------
    pools
        The population that problems are drawn from.
    problems, blocks
        Size of the sample and blocks of each problem.
    settings
        Least effect, correction and draws.
    """
    helpful, harmful = separation_chances(pools.full[:, None], pools.removals, blocks)
    each, right = problems / len(pools.full), pools.proposals == 1
    up = pools.effects >= settings.least_effect
    down = pools.effects <= -settings.least_effect
    planted = int(up.sum() + down.sum())
    hits = helpful[up].sum() + harmful[down].sum()
    return DesignPower(
        problems=problems,
        blocks=blocks,
        calls=problems * blocks * SLOTS,
        wrong_helpful=float(each * helpful[~right].sum()),
        wrong_harmful=float(each * harmful[~right].sum()),
        correct_helpful=float(each * helpful[right].sum()),
        correct_harmful=float(each * harmful[right].sum()),
        false_direction=float(each * (helpful[~up].sum() + harmful[~down].sum())),
        planted=each * planted,
        power=float(hits / planted) if planted else float("nan"),
        blocked_problems=_blocked_problems(pools, problems, blocks, settings),
    )


def _blocked_problems(
    pools: PlantedPools, problems: int, blocks: int, settings: PowerSettings
) -> float:
    """Return the mean number of problems that the blocked test selects over drawn studies."""
    rng = np.random.default_rng(settings.seed)
    found = []
    for _ in range(settings.draws):
        sample = pools.take(rng.integers(len(pools.full), size=problems))
        p_values = exact_problem_p(problem_patterns(draw_blocks(sample, blocks, rng)))
        found.append(int(selected(p_values, "bh", settings.rate).sum()))
    return float(np.mean(found)) if found else float("nan")


def draw_blocks(pools: PlantedPools, blocks: int, rng: np.random.Generator) -> ReplayBlocks:
    """Return one drawn study of some pools, as the analysis sees it."""
    chances = np.concatenate([np.repeat(pools.full[:, None], FULL_SLOTS, 1), pools.removals], 1)
    outcomes = rng.random((len(chances), blocks, SLOTS)) < chances[:, None, :]
    names = np.array([f"drawn:{place}" for place in range(len(chances))], dtype=object)
    return ReplayBlocks(
        model="drawn",
        integrator="drawn",
        problem_uids=names,
        benchmarks=np.full(len(names), "drawn", dtype=object),
        outcomes=outcomes.astype(np.int8),
        proposals=pools.proposals,
        strict=np.ones(len(names), dtype=np.bool_),
    )


def power_table(
    pools: PlantedPools,
    problems: Sequence[int],
    blocks: Sequence[int],
    settings: PowerSettings,
) -> list[DesignPower]:
    """Return the power of every combination of problems and blocks."""
    return [design_power(pools, n, b, settings) for b in blocks for n in problems]
