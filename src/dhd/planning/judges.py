"""Comparison by rules in a plan: real where models are simulated, assumed where they are not."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from dhd.answers import Comparison
from dhd.config.load import Study
from dhd.config.models import SimulatedModel
from dhd.planning.assumptions import Assumptions
from dhd.problems import Problem
from dhd.protocols.setup import Compare
from dhd.simulation.draws import uniforms
from dhd.stages.rules import Rules


class PlannedRules:
    """Gives the comparison that decides how the runs of a plan go on; a context manager.

    The answers of a simulated model are compared by the study's rules. Those of a model that is
    not there mean nothing, so their verdicts are drawn.

    Parameters
    ----------
    study
        The study that is planned.
    assumptions
        The shares of answers that are right and that rules leave to the evaluator.
    """

    def __init__(self, study: Study, assumptions: Assumptions) -> None:
        self._study = study
        method = study.settings.judging.method
        undecided = assumptions.undecided if method == "rules_then_llm" else 0.0
        self._are_used = method != "llm"
        self._rules = Rules(study)
        self._assumed = AssumedRules(assumptions.accuracy, undecided)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._rules.close()

    def compare(self, family: str) -> Compare | None:
        """Return the comparison of a family's answers; None where a model alone judges."""
        if not self._are_used:
            return None
        is_simulated = isinstance(self._study.actor(family), SimulatedModel)
        return self._rules.compare if is_simulated else self._assumed.compare


class AssumedRules:
    """Draws verdicts that follow from problem and answer: the same pair has the same verdict.

    Parameters
    ----------
    accuracy
        Share of the decided answers that are right.
    undecided
        Share of answers that are left to the evaluator.
    """

    def __init__(self, accuracy: float, undecided: float) -> None:
        self._accuracy = accuracy
        self._undecided = undecided

    async def compare(self, problem: Problem, answer: str) -> Comparison:
        """Return the verdict on one answer."""
        decided, right, *_ = uniforms("assumed rules", problem.problem_uid, answer)
        if decided < self._undecided:
            return Comparison(None, "assumed_undecided")
        return Comparison(right < self._accuracy, "assumed")
