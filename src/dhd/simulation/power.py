"""The power of a repeats design: what B blocks of n problems are expected to find.

Given the chances behind a message, its block differences are independent draws from a known
distribution on five values, so that the chance of being separated (Table 17) is a sum over count
vectors: exact, without simulation. A study sees these chances through its evaluator's errors and
the calls that give no answer, so both are put in first. How far one study may lie from the mean,
and what the problem-blocked test with its correction finds (Table 20), are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import factorial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dhd.analysis.repeated.blocks import FULL_SLOTS, SLOTS, ReplayBlocks
from dhd.analysis.repeated.multiplicity import selected
from dhd.analysis.repeated.problem_test import exact_problem_p, problem_patterns
from dhd.analysis.repeated.separation import VALUES, separation, separation_of_counts
from dhd.simulation.pools import FloatArray, Int8Array, PlantedPools
from dhd.simulation.settings import FormatSettings, VerdictSettings

_CHUNK: Final = 2_000
"""Messages whose count vectors are summed at a time."""

KINDS: Final = ("wrong_helpful", "wrong_harmful", "correct_helpful", "correct_harmful")
"""Kinds of separated messages, as fields of `DesignPower`."""

NO_ERRORS: Final = VerdictSettings(false_pass=0.0, false_fail=0.0)
NO_LOSS: Final = FormatSettings()

_RANGE: Final = (2.5, 97.5)
"""Percentiles of the counts that one study finds."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A count that studies of one design find.

    Attributes
    ----------
    mean
        Over all such studies.
    low, high
        95 % of single studies find a number between them; NaN where none was drawn.
    """

    mean: float
    low: float
    high: float


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
        Separated messages of each kind.
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
    wrong_helpful: Expected
    wrong_harmful: Expected
    correct_helpful: Expected
    correct_harmful: Expected
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
    range_draws
        Studies that are drawn for the ranges of counts; 0 leaves them out (NaN).
    seed
        Seed of these draws.
    verdicts
        Errors of the study's evaluator; none by default.
    format
        Integrator calls that give no answer, which count as wrong; none by default.
    """

    least_effect: float = 0.3
    rate: float = 0.05
    draws: int = 20
    range_draws: int = 200
    seed: int = 20260814
    verdicts: VerdictSettings = NO_ERRORS
    format: FormatSettings = NO_LOSS


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
        The population that problems are drawn from, as it is in truth.
    problems, blocks
        Size of the sample and blocks of each problem.
    settings
        Least effect, correction, draws, and errors between truth and records.
    """
    rng = np.random.default_rng(settings.seed)
    seen = pools.seen(settings.verdicts, settings.format, rng)
    helpful, harmful = separation_chances(seen.full[:, None], seen.removals, blocks)
    each = problems / len(pools.full)
    up = pools.effects >= settings.least_effect
    down = pools.effects <= -settings.least_effect
    planted = int(up.sum() + down.sum())
    hits = helpful[up].sum() + harmful[down].sum()
    return DesignPower(
        problems=problems,
        blocks=blocks,
        calls=problems * blocks * SLOTS,
        **_expected_counts(seen, problems, blocks, (helpful, harmful), settings.range_draws, rng),
        false_direction=float(each * (helpful[~up].sum() + harmful[~down].sum())),
        planted=each * planted,
        power=float(hits / planted) if planted else float("nan"),
        blocked_problems=_blocked_problems(seen, problems, blocks, settings, rng),
    )


def _expected_counts(
    seen: PlantedPools,
    problems: int,
    blocks: int,
    chances: tuple[FloatArray, FloatArray],
    draws: int,
    rng: np.random.Generator,
) -> dict[str, Expected]:
    """Return the separated messages of each kind: exact means, ranges over drawn studies."""
    each = problems / len(seen.full)
    means = each * _by_kind(chances, seen.proposals)
    found = [
        _by_kind((labels > 0, labels < 0), sample.proposals)
        for sample, labels in (
            (sample, separation(drawn.differences, drawn.valid))
            for sample, drawn in _drawn_studies(seen, problems, blocks, draws, rng)
        )
    ]
    low, high = np.percentile(found, _RANGE, axis=0) if found else np.full((2, len(means)), np.nan)
    return {
        name: Expected(float(mean), float(least), float(most))
        for name, mean, least, most in zip(KINDS, means, low, high, strict=True)
    }


def _by_kind(found: tuple[npt.NDArray[Any], npt.NDArray[Any]], proposals: Int8Array) -> FloatArray:
    """Return the sums of (chances of) helpful and harmful labels, in the order of `KINDS`."""
    return np.array(
        [part[proposals == right].sum() for right in (0, 1) for part in found], dtype=np.float64
    )


def _drawn_studies(
    seen: PlantedPools, problems: int, blocks: int, draws: int, rng: np.random.Generator
) -> Iterator[tuple[PlantedPools, ReplayBlocks]]:
    """Yield studies of problems drawn from a population: their pools, and what was observed."""
    for _ in range(draws):
        sample = seen.take(rng.integers(len(seen.full), size=problems))
        yield sample, draw_blocks(sample, blocks, rng)


def _blocked_problems(
    seen: PlantedPools,
    problems: int,
    blocks: int,
    settings: PowerSettings,
    rng: np.random.Generator,
) -> float:
    """Return the mean number of problems that the blocked test selects over drawn studies."""
    found = [
        int(selected(exact_problem_p(problem_patterns(drawn)), "bh", settings.rate).sum())
        for _, drawn in _drawn_studies(seen, problems, blocks, settings.draws, rng)
    ]
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
