r"""Latent truths of a simulated model: levels of problems, shifts of messages, chances.

Everything here is a pure function of the model's parameters, a problem's code and the texts
shown, so that tests and plans can ask for the truth behind any record. The integrator is right
with probability

.. math:: P = \mathrm{logistic}\Big(\frac{1}{s}\big(L + n^{-d} \sum_{i} (a_i + r_i)\big)\Big)

with the problem's level L, the answer part a and reasoning part r of each of n messages shown,
dilution d and replay noise s. Noise 0 makes every call certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, sqrt
from typing import Final

from dhd.simulation.draws import normal, uniforms
from dhd.simulation.settings import DifficultySettings, MessageSettings
from dhd.simulation.stand_ins import StandIn

_CERTAIN: Final = 40.0
"""Logits beyond which a chance is 0 or 1 in double precision."""

_CACHE: Final = 200_000


@dataclass(frozen=True, slots=True)
class Shown:
    """A message as an integrator's prompt shows it.

    Attributes
    ----------
    answer
        The proposed answer, or None where it is not shown.
    route
        The route code in its reasoning, or None where the reasoning is not shown.
    """

    answer: str | None = None
    route: str | None = None


class World:
    """What is true of problems and messages for one model.

    Parameters
    ----------
    name
        The model's name; two models of one name agree in everything.
    difficulty, messages
        Parameters of levels and shifts.
    replay_noise
        Logistic scale of one call's draw, in logits; 0 for certain outcomes.
    """

    def __init__(
        self,
        name: str,
        difficulty: DifficultySettings,
        messages: MessageSettings,
        replay_noise: float,
    ) -> None:
        self._name = name
        self._difficulty = difficulty
        self._messages = messages
        self._noise = replay_noise
        self.level = lru_cache(maxsize=_CACHE)(self._level)
        self.reasoning_shift = lru_cache(maxsize=_CACHE)(self._reasoning_shift)

    def _level(self, item: StandIn) -> float:
        """Return the logit of solving a problem alone, before replay noise."""
        settings = self._difficulty
        ability = settings.ability.get(item.benchmark, settings.ability.get("default", 0.0))
        common = normal(uniforms("level", item.code)[0])
        own = normal(uniforms("level", item.code, self._name)[0])
        score = sqrt(settings.common) * common + sqrt(1 - settings.common) * own
        return settings.spread * (ability + score - settings.stratum_slope * item.hardness)

    def _reasoning_shift(self, route: str) -> float:
        """Return what the reasoning of a message is worth to this integrator, in logits."""
        settings = self._messages
        weight, common, *_ = uniforms("route", route)
        own = normal(uniforms("route", route, self._name)[0])
        score = sqrt(settings.common) * normal(common) + sqrt(1 - settings.common) * own
        if weight < settings.weighty:
            return settings.reasoning_mean + settings.reasoning_sd * score
        return settings.light_sd * score

    def shift(self, item: StandIn, message: Shown) -> float:
        """Return what one message is worth to this integrator, in logits, before dilution."""
        total = 0.0 if message.route is None else self.reasoning_shift(message.route)
        if message.answer is None:
            return total
        if is_right(item, message.answer):
            return total + self._messages.answer_pull
        if message.answer in item.item.wrong:
            return total - self._messages.answer_pull
        return total

    def chance(self, item: StandIn, shown: Sequence[Shown], rejected: int = 0) -> float:
        """Return the chance that one integrator call is right, when its output is as asked.

        Parameters
        ----------
        item
            The problem.
        shown
            Messages, plans and statements that the prompt shows.
        rejected
            Rejected answers that the prompt lists (end-to-end protocols).
        """
        logit = self.level(item) + rejected * self._messages.rejection_pull
        if shown:
            total = sum([self.shift(item, message) for message in shown])
            logit += total / len(shown) ** self._messages.dilution
        return logistic(logit, self._noise)

    def message_chance(self, item: StandIn) -> float:
        """Return the chance that one hypothesizer proposes the right answer."""
        shift = self._difficulty.spread * self._messages.ability_shift
        return logistic(self.level(item) + shift, self._messages.noise)


def is_right(item: StandIn, answer: str) -> bool:
    """Tell whether an answer is the right one, in either of its forms."""
    return answer == item.item.right or answer == item.item.other_form


def logistic(logit: float, scale: float) -> float:
    """Return the logistic function of ``logit / scale``; a step for scale 0, a half at 0."""
    if logit == 0:
        return 0.5
    if abs(logit) >= _CERTAIN * scale:
        return float(logit > 0)
    return 1.0 / (1.0 + exp(-logit / scale))
