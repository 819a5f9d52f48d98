"""Counting what coroutines ask: calls and tokens by line of the plan, each request once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dhd.config.load import Study
from dhd.config.models import ModelSettings, SimulatedModel
from dhd.engines.simulated import CHARACTERS_PER_TOKEN, SimulatedEngine
from dhd.planning.assumed import AssumedEngine
from dhd.planning.assumptions import Assumptions
from dhd.requests import Completion, Generate, KeyMaker, Request, Role


@dataclass(frozen=True, slots=True, order=True)
class Line:
    """What is counted together.

    Attributes
    ----------
    part
        ``scan`` or the study.
    stage
        ``deliberation``, ``replays``, ``judging``, ``audit``, or the protocol.
    family
        Family whose pools or runs these are; empty where all are judged together.
    model
        Key of the model that answers.
    benchmark
        Key of the benchmark.
    """

    part: str
    stage: str
    family: str
    model: str
    benchmark: str

    @property
    def journal(self) -> tuple[str, str]:
        """Return what tells the journals of lines apart; all judging shares one."""
        return ("judging", "") if self.stage == "judging" else (self.part, self.family)


@dataclass(slots=True)
class Usage:
    """Calls and tokens of one problem on one line."""

    calls: int = 0
    prompt_tokens: float = 0.0
    output_tokens: float = 0.0


@dataclass(slots=True)
class Tally:
    """Usage of the pilot's problems on one line, and how many problems the study has there.

    Attributes
    ----------
    problems
        Problems of each group.
    groups
        What the pilot's problems used, by group: what is scaled to all problems together. A
        problem may be in some groups alone.
    """

    problems: float
    groups: dict[str, list[Usage]] = field(default_factory=dict)


class Desk:
    """Answers requests for one model in memory; what was asked before is not asked again.

    Parameters
    ----------
    model
        The model's settings. A simulated model answers itself, another as assumed.
    seed
        Seed of the study.
    assumptions
        Lengths and rates of models that are not simulated.
    """

    def __init__(self, model: ModelSettings, seed: int, assumptions: Assumptions) -> None:
        if isinstance(model, SimulatedModel):
            self._engine, self._tokens_per_engine_token = SimulatedEngine(model), 1.0
        else:
            self._engine = AssumedEngine(assumptions)
            self._tokens_per_engine_token = CHARACTERS_PER_TOKEN / assumptions.characters_per_token
        self._keys = KeyMaker(model.identity(), seed)
        self._done: dict[tuple[tuple[str, str], str], Completion] = {}

    def answer(self, request: Request, usage: Usage, journal: tuple[str, str]) -> Completion:
        """Return the answer; add it to ``usage`` where the journal does not have it."""
        key = self._keys.key(request)
        found = self._done.get((journal, key))
        if found is None:
            found = self._done[journal, key] = self._engine.answer(key, request)
            usage.calls += 1
            usage.prompt_tokens += found.prompt_tokens * self._tokens_per_engine_token
            usage.output_tokens += found.completion_tokens
        return found

    def forget(self) -> None:
        """Forget all answers: problems share no requests."""
        self._done.clear()


class Counts:
    """The tallies of a pilot, and the desks that answer it.

    Parameters
    ----------
    study
        The study that is planned.
    assumptions
        Lengths and rates of models that are not simulated.
    """

    def __init__(self, study: Study, assumptions: Assumptions) -> None:
        self.tallies: dict[Line, Tally] = {}
        self._study = study
        self._assumptions = assumptions
        self._desks: dict[str, Desk] = {}

    def generate(self, lines: Mapping[Role, Line], problems: float, group: str = "") -> Generate:
        """Return a ``generate`` that counts one problem's requests on their role's line.

        Parameters
        ----------
        lines
            The line of each role; a role that is not named has the integrator's.
        problems
            How many such problems the study has.
        group
            Whose problems these are, where a line counts those of several families.
        """
        usages = {
            line: self._usage(line, problems, group) for line in dict.fromkeys(lines.values())
        }

        async def generate(request: Request) -> Completion:
            line = lines.get(request.role) or lines["integrator"]
            return self._desk(line.model).answer(request, usages[line], line.journal)

        return generate

    def forget(self) -> None:
        """Forget the answers about one problem."""
        for desk in self._desks.values():
            desk.forget()

    def _usage(self, line: Line, problems: float, group: str) -> Usage:
        usage = Usage()
        tally = self.tallies.setdefault(line, Tally(problems))
        tally.groups.setdefault(group, []).append(usage)
        return usage

    def _desk(self, model: str) -> Desk:
        if model not in self._desks:
            settings = self._study.models[model]
            self._desks[model] = Desk(settings, self._study.settings.seed, self._assumptions)
        return self._desks[model]
