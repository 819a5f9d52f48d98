"""An engine that behaves as a plan assumes of a model that is not there."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from dhd.config.models import SimulatedModel
from dhd.engines.simulated import SimulatedEngine
from dhd.planning.assumptions import Assumptions
from dhd.requests import Request
from dhd.simulation.draws import normal, uniforms
from dhd.simulation.items import Item
from dhd.simulation.outputs import Meaning
from dhd.simulation.reading import blocks
from dhd.simulation.settings import DifficultySettings
from dhd.simulation.stand_ins import StandIn

_ANSWER_FIELDS: Final = ("proposed_answer", "final_answer", "candidate", "revision")
_TEXT_ANSWERS: Final = tuple(rf"\frac{{{number}}}{{7}}" for number in (12, 13, 15, 16))
_NUMBERS: Final = ("12", "13", "15", "16")
_LEAST_CHANCE: Final = 1e-3


class AssumedEngine(SimulatedEngine):
    """Answers requests about any problem, rightly as often as assumed.

    Which answers are right follows from the texts by hashing: nothing is known of the problem.
    """

    def __init__(self, assumptions: Assumptions) -> None:
        chance = min(max(assumptions.accuracy, _LEAST_CHANCE), 1 - _LEAST_CHANCE)
        super().__init__(
            SimulatedModel(
                engine="simulated",
                name="assumed",
                difficulty=DifficultySettings(ability={"default": normal(chance)}),
                lengths=assumptions.lengths,
                format=assumptions.format,
            )
        )
        self._accuracy = assumptions.accuracy

    def _item(self, request: Request) -> StandIn:
        text = request.turns[-1].content
        problem = next(iter(blocks(text)), text)
        return _assumed_item(problem, _answers_of(request))

    def _verdict(self, request: Request, draw: float) -> Meaning:
        passes = uniforms("assumed verdict", request.turns[-1].content)[0] < self._accuracy
        return Meaning("", passes, "", 0, draw, draw)


def _answers_of(request: Request) -> tuple[str, ...]:
    """Return four different answers that the request's schema allows."""
    properties: dict[str, Any] = dict((request.json_schema or {}).get("properties", {}))
    schema: dict[str, Any] = next(
        (properties[name] for name in _ANSWER_FIELDS if name in properties), {}
    )
    if "enum" in schema:
        values = [str(value) for value in schema["enum"]]
        return tuple((values * len(_NUMBERS))[: len(_NUMBERS)])
    if "pattern" not in schema:
        return _TEXT_ANSWERS
    for candidates in (_NUMBERS, tuple("ABCD")):
        if re.search(schema["pattern"], candidates[0]):
            return candidates
    return _TEXT_ANSWERS


@lru_cache(maxsize=4096)
def _assumed_item(problem: str, answers: tuple[str, ...]) -> StandIn:
    start = int(uniforms("assumed item", problem)[0] * len(answers))
    right, *wrong = answers[start:] + answers[:start]
    item = Item(text=problem, right=right, wrong=(wrong[0], wrong[1], wrong[2]))
    return StandIn(problem, "assumed", None, "text", item, hardness=0.0)
