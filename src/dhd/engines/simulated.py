"""An engine without a model: answers drawn from the latent truths of stand-in problems.

It gets what every engine gets, prompts alone, and finds in them the item and the messages shown
(see `dhd.simulation.reading`). What it answers follows from the model's parameters, the prompt
and the content key, so that runs repeat and the order of requests does not matter.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from math import exp
from typing import Final, NamedTuple

from dhd.config.models import SimulatedModel
from dhd.errors import EngineError
from dhd.messages import FIELD_NAMES
from dhd.requests import Completion, Request
from dhd.simulation import texts
from dhd.simulation.draws import normal, uniforms
from dhd.simulation.outputs import Meaning, written
from dhd.simulation.reading import (
    ROUTE_LENGTH,
    blocks,
    held_in,
    item_in,
    messages_in,
    rejected_in,
)
from dhd.simulation.stand_ins import StandIn
from dhd.simulation.verdicts import same_answer
from dhd.simulation.world import Shown

CHARACTERS_PER_TOKEN: Final = 4
_CACHE_BLOCK: Final = 16
"""Tokens in which an engine's prefix cache is counted."""

#: Fields that `missing_field` may leave out of a message.
_OPTIONAL_FIELDS: Final = tuple(name for name in FIELD_NAMES if name != "proposed_answer")
_WRONG_LIMITS: Final = (0.6, 0.85)
"""Shares of wrong answers that are the first, or one of the first two, of an item's three."""


class _Call(NamedTuple):
    """The random numbers of one call, by what they decide."""

    failed: float
    truncated: float
    invalid: float
    no_answer: float
    loose: float
    outcome: float
    wrong: float
    follow: float
    form: float
    confidence: float
    length: float
    text: float
    missing: float
    which: float

    @classmethod
    def of(cls, key: str) -> _Call:
        return cls._make(uniforms("call", key)[: len(cls._fields)])


class SimulatedEngine:
    """Answers requests about stand-in problems (settings: ``SimulatedModel``)."""

    def __init__(self, settings: SimulatedModel) -> None:
        self.identity = settings.identity()
        self._settings = settings
        self._world = settings.world()
        self._answered_by = str(self.identity)
        self._waiting: deque[tuple[str, Request]] = deque()

    @property
    def capacity(self) -> int:
        """Return how many requests may be submitted and unanswered at a time."""
        return self._settings.max_in_flight

    async def start(self) -> None:
        """Do nothing: there is no model to load."""

    def submit(self, key: str, request: Request) -> None:
        """Take a request; its draws follow from ``key``."""
        self._waiting.append((key, request))

    async def poll(self) -> list[Completion]:
        """Answer all requests that wait.

        Raises
        ------
        EngineError
            When a prompt is not about a stand-in problem: nothing is known of others.
        """
        await asyncio.sleep(self._settings.latency_s)
        waiting, self._waiting = self._waiting, deque()
        return [self.answer(key, request) for key, request in waiting]

    async def close(self) -> None:
        """Forget what was not answered."""
        self._waiting.clear()

    def answer(self, key: str, request: Request) -> Completion:
        """Return the outcome of one request at once.

        Raises
        ------
        EngineError
            When the prompt is not about a stand-in problem.
        """
        call, form = _Call.of(key), self._settings.format
        if call.failed < form.failed:
            return Completion(
                key, "failed", reason="simulated_failure", answered_by=self._answered_by
            )
        text, finish_reason = self._text(key, request, call), "stop"
        limit = request.decoding.max_tokens
        length = max(self._length(request, call), _tokens(len(text)))
        if call.truncated < form.truncated or _tokens(len(text)) > limit:
            text, finish_reason = (
                text[: min(len(text) // 2, limit * CHARACTERS_PER_TOKEN)],
                "length",
            )
            length = limit
        turns = request.turns
        return Completion(
            key,
            "ok",
            text=text,
            finish_reason=finish_reason,
            prompt_tokens=_tokens(sum([len(turn.content) for turn in turns])),
            cached_tokens=_tokens(len(turns[0].content)) // _CACHE_BLOCK * _CACHE_BLOCK
            if len(turns) > 1
            else 0,
            completion_tokens=min(length, limit),
            answered_by=self._answered_by,
        )

    def _text(self, key: str, request: Request, call: _Call) -> str:
        """Return what the model says, in the form asked for or another one."""
        form = self._settings.format
        if call.invalid < form.invalid:
            return texts.PROSE
        text = written(request, self._meaning(key, request, call))
        if call.loose < form.loose_json:
            return f"Here is my reply.\n\n```json\n{text}\n```"
        return text

    def _length(self, request: Request, call: _Call) -> int:
        """Return how many tokens the output has, reasoning included."""
        lengths = self._settings.lengths
        mean = lengths.of(request.role)
        return int(mean * exp(lengths.sd * normal(call.length) - lengths.sd**2 / 2))

    def _meaning(self, key: str, request: Request, call: _Call) -> Meaning:
        if request.role == "evaluator":
            return self._verdict(request, call.outcome)
        item = self._item(request)
        if request.role == "recruiter":
            return Meaning("", True, "", 0, call.text, call.confidence)
        route = key[-ROUTE_LENGTH:]
        if request.role == "hypothesizer":
            return self._message(item, route, call)
        return self._solution(item, request.turns[-1].content, route, call)

    def _item(self, request: Request) -> StandIn:
        """Return the item that a request is about."""
        item = item_in(request.turns)
        if item is None:
            raise EngineError(
                f"{self.identity}: a prompt is not about a stand-in problem; simulated models "
                "answer those alone: make their files with `dhd stand-ins` and name these in the "
                "config's benchmarks"
            )
        return item

    def _message(self, item: StandIn, route: str, call: _Call) -> Meaning:
        right = call.outcome < self._world.message_chance(item)
        answer = self._right(item, call) if right else _wrong(item.item.wrong, call)
        left_out = ""
        if call.missing < self._settings.format.missing_field:
            left_out = texts.pick(call.which, _OPTIONAL_FIELDS)
        chars = self._settings.lengths.text_chars
        return Meaning(answer, right, route, 0, call.text, call.confidence, left_out, chars)

    def _solution(self, item: StandIn, prompt: str, route: str, call: _Call) -> Meaning:
        """Return what an integrator answers: right by its chance, else often a message's wrong."""
        shown, rejected = messages_in(prompt, item.code), rejected_in(prompt)
        right = call.outcome < self._world.chance(item, shown, len(rejected))
        if call.no_answer < self._settings.format.no_answer:
            answer, right = "", False
        elif right:
            answer = self._right(item, call)
        else:
            answer = self._mistake(item, shown, rejected, call)
        return Meaning(
            answer,
            right,
            route,
            len(shown),
            call.text,
            call.confidence,
            text_chars=self._settings.lengths.text_chars,
            agrees=bool(answer) and same_answer(held_in(prompt), answer),
        )

    def _mistake(self, item: StandIn, shown: list[Shown], rejected: list[str], call: _Call) -> str:
        """Return a wrong answer: often one that a message proposes, a rejected one never again."""
        left = [answer for answer in item.item.wrong if answer not in rejected] or item.item.wrong
        told = [one.answer for one in shown if one.answer is not None and one.answer in left]
        if told and call.follow < self._settings.messages.follow:
            return texts.pick(call.which, told)
        return _wrong(left, call)

    def _verdict(self, request: Request, draw: float) -> Meaning:
        """Return an evaluator's verdict: the first block is the reference, the last the answer."""
        compared = [block.strip() for block in blocks(request.turns[-1].content)]
        errors = self._settings.verdicts
        if len(compared) > 1 and same_answer(compared[0], compared[-1]):
            passes = draw >= errors.false_fail
        else:
            passes = draw < errors.false_pass
        return Meaning("", passes, "", 0, draw, draw)

    def _right(self, item: StandIn, call: _Call) -> str:
        other = item.item.other_form
        if other is not None and call.form < self._settings.format.other_form:
            return other
        return item.item.right


def _wrong(answers: Sequence[str], call: _Call) -> str:
    """Return one of some wrong answers, the first one mostly."""
    place = bisect_right(_WRONG_LIMITS, call.wrong)
    return answers[min(place, len(answers) - 1)]


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)
