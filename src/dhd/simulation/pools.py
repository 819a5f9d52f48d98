"""Planted pools: messages with known values, and the chances of every replay of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from dhd.messages import POOL_SIZE
from dhd.simulation.draws import uniforms
from dhd.simulation.reading import ROUTE_LENGTH, route_in
from dhd.simulation.settings import FormatSettings, VerdictSettings
from dhd.simulation.stand_ins import StandIn, stand_in
from dhd.simulation.world import Shown, World, is_right

FloatArray = npt.NDArray[np.float64]
Int8Array = npt.NDArray[np.int8]


@dataclass(frozen=True)
class PlantedPools:
    """What is true of some pools at K = 5, for one integrator.

    Attributes
    ----------
    full
        Problems: chance that the integrator is right with the full pool.
    removals
        Problems × messages: the same without one message.
    proposals
        Problems × messages: 1 where the proposed answer is right, else 0.
    """

    full: FloatArray
    removals: FloatArray
    proposals: Int8Array

    @property
    def effects(self) -> FloatArray:
        """Problems × messages: the true value of a message, full minus removal."""
        return self.full[:, None] - self.removals

    @classmethod
    def of(cls, world: World, pools: Iterable[tuple[StandIn, Sequence[Shown]]]) -> PlantedPools:
        """Return the truths about pools of five messages each, in order."""
        full, removals, proposals = [], [], []
        for item, pool in pools:
            full.append(world.chance(item, pool))
            removals.append(
                [world.chance(item, [*pool[:i], *pool[i + 1 :]]) for i in range(POOL_SIZE)]
            )
            proposals.append([_is_right(item, message) for message in pool])
        return cls(
            np.array(full, dtype=np.float64),
            np.array(removals, dtype=np.float64).reshape(-1, POOL_SIZE),
            np.array(proposals, dtype=np.int8).reshape(-1, POOL_SIZE),
        )

    def take(self, positions: npt.NDArray[np.intp]) -> PlantedPools:
        """Return the pools at some positions."""
        return PlantedPools(
            self.full[positions], self.removals[positions], self.proposals[positions]
        )

    def seen(
        self, verdicts: VerdictSettings, form: FormatSettings, rng: np.random.Generator
    ) -> PlantedPools:
        """Return the pools as records show them: chances of being judged right, labels judged.

        A call that is cut, has no form, or gives no answer is wrong whatever the model knows; a
        proposal is judged once.
        """
        lost = 1 - (1 - form.truncated) * (1 - form.invalid) * (1 - form.no_answer)
        passes = np.where(self.proposals == 1, 1 - verdicts.false_fail, verdicts.false_pass)

        def judged(chances: FloatArray) -> FloatArray:
            right = chances * (1 - verdicts.false_fail) + (1 - chances) * verdicts.false_pass
            return (1 - lost) * right

        return PlantedPools(
            judged(self.full),
            judged(self.removals),
            (rng.random(passes.shape) < passes).astype(np.int8),
        )


def draw_pools(world: World, codes: Iterable[str], seed: int) -> PlantedPools:
    """Return one pool for each item, as the model's own hypothesizers would write it.

    Parameters
    ----------
    world
        The model that writes and integrates.
    codes
        The items.
    seed
        What the pools follow from.
    """
    return PlantedPools.of(
        world, ((item, _pool(world, item, seed)) for item in map(stand_in, codes))
    )


def _pool(world: World, item: StandIn, seed: int) -> list[Shown]:
    chance, pool = world.message_chance(item), []
    for index in range(POOL_SIZE):
        outcome, route, *_ = uniforms("pool", str(seed), item.code, str(index))
        answer = item.item.right if outcome < chance else item.item.wrong[0]
        pool.append(Shown(answer, f"{int(route * 16**ROUTE_LENGTH):0{ROUTE_LENGTH}x}"))
    return pool


def recorded_pools(world: World, messages: pd.DataFrame) -> tuple[list[str], PlantedPools]:
    """Return the truths about the pools in records: what an analysis of them should find.

    Parameters
    ----------
    world
        The model that integrates.
    messages
        Rows of ``messages`` of one family about stand-in problems.

    Returns
    -------
    uids, pools
        The problems whose five messages are all rendered, and their pools in this order.
    """
    rendered = messages[messages["rendered"]].sort_values("message_index")
    uids, pools = [], []
    for uid, group in rendered.groupby("problem_uid", observed=True, sort=True):
        if len(group) == POOL_SIZE:
            item = stand_in(str(uid).rsplit(":", 1)[-1])
            texts = zip(group["proposed_answer"], group["reasoning_direction"], strict=True)
            uids.append(str(uid))
            pools.append((item, [_recorded(answer, reasoning) for answer, reasoning in texts]))
    return uids, PlantedPools.of(world, pools)


def _recorded(answer: object, reasoning: object) -> Shown:
    """Return a message as a prompt shows it; a missing field is NaN or None in a table."""
    return Shown(
        answer if isinstance(answer, str) else None,
        route_in(reasoning) if isinstance(reasoning, str) else None,
    )


def _is_right(item: StandIn, message: Shown) -> bool:
    return message.answer is not None and is_right(item, message.answer)
