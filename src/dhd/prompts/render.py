"""Prompts of the four roles and the schemas of their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Final

from dhd.benchmarks.options import shows_options
from dhd.config.prompts import PromptSettings
from dhd.messages import FIELD_NAMES, ExpertRole, MessageFields
from dhd.problems import ANSWER_FORMATS, AnswerFormat, Problem
from dhd.prompts.schemas import AnswerSchemas, Schema
from dhd.prompts.templates import BASE_FOLDER, ChatTemplate, TemplateFolder
from dhd.prompts.text import unit_without_factor
from dhd.requests import Role, Turn

#: What the fixed turns (system and worked turns) may use: nothing of the problem itself, so
#: that prompts of one kind share their beginning in the engine's prefix cache.
FIXED_VARIABLES: Final = (
    "answer_format",
    "has_options",
    "has_messages",
    "field_order",
    "confidence_levels",
)
#: What a solver's template may know of a problem.
OF_PROBLEM: Final = ("problem", "options", "unit", "answer_format")
#: What a role's last turn may use. A solver's template has no name for the reference, and
#: the evaluator's none for problem, options or reasoning: no template can cross that line.
VARIABLES: Final[Mapping[Role, tuple[str, ...]]] = {
    "recruiter": OF_PROBLEM,
    "hypothesizer": (*OF_PROBLEM, "role"),
    "integrator": (*OF_PROBLEM, "messages"),
    "evaluator": ("submitted", "reference", "answer_format", "unit"),
}


@dataclass(frozen=True, slots=True)
class IndexedMessage:
    """A message as the integrator may see it.

    Attributes
    ----------
    index
        Place in the roster, 1…5; it keeps its place when other messages are left out.
    role
        Who wrote it.
    fields
        What it says; a field that is None, absent or hidden, is left out.
    """

    index: int
    role: ExpertRole
    fields: MessageFields


class PromptSet:
    """The prompts of a study.

    All templates are compiled and tried once here, so that a fault shows before the first
    request. Rendering is a pure function of its arguments.

    Parameters
    ----------
    settings
        The ``prompts`` section of the config.
    root
        The project root, to which ``settings.folder`` is relative.

    Raises
    ------
    ConfigError
        A template is missing or faulty, or uses a variable that its role does not have.
    """

    def __init__(self, settings: PromptSettings, root: Path) -> None:
        self._settings = settings
        self._schemas = AnswerSchemas(settings)
        self._folder = TemplateFolder(root / settings.folder, root / BASE_FOLDER)
        self._questions: dict[Role, ChatTemplate] = {}
        self._fixed: dict[tuple[Role, AnswerFormat, bool, bool], tuple[Turn, ...]] = {}
        for role in VARIABLES:
            self._load(role)
        self._try_every_question()

    def recruiter(self, problem: Problem) -> tuple[Turn, ...]:
        """Return the prompt that asks for five roles: the problem alone."""
        return self._render("recruiter", problem, problem_view(problem))

    def hypothesizer(self, problem: Problem, role: ExpertRole) -> tuple[Turn, ...]:
        """Return the prompt that asks for a message: the problem and exactly one role."""
        return self._render(
            "hypothesizer", problem, {**problem_view(problem), "role": _role_view(role)}
        )

    def integrator(self, problem: Problem, messages: Sequence[IndexedMessage]) -> tuple[Turn, ...]:
        """Return the prompt that asks for a final answer.

        Parameters
        ----------
        problem
            The problem; its reference is not shown. Options that its text already shows
            are not listed again.
        messages
            The messages to show; they are shown in the order of their index. None of them
            gives the independent solver's prompt: the problem alone.

        Raises
        ------
        ValueError
            Two messages have the same index.
        """
        ordered = sorted(messages, key=lambda message: message.index)
        if len({message.index for message in ordered}) < len(ordered):
            raise ValueError(f"indices must differ: {[message.index for message in ordered]}")
        view = {**problem_view(problem), "messages": [_message_view(one) for one in ordered]}
        return self._render("integrator", problem, view, has_messages=bool(ordered))

    def evaluator(self, problem: Problem, submitted: str) -> tuple[Turn, ...]:
        """Return the prompt that asks for a verdict: submission, reference and answer format."""
        view = {
            "submitted": submitted,
            "reference": problem.reference,
            "answer_format": problem.answer_format,
            "unit": problem.unit,
        }
        return self._render("evaluator", problem, view)

    def recruiter_schema(self, problem: Problem) -> Schema:
        """Return the schema of five roles, each ``Name: lens``; the same for all problems."""
        del problem  # a roster has one shape, whatever the problem
        return self._schemas.recruiter()

    def hypothesizer_schema(self, problem: Problem) -> Schema:
        """Return the schema of a message; its answer has the problem's format."""
        return self._schemas.hypothesizer(problem)

    def integrator_schema(self, problem: Problem) -> Schema:
        """Return the schema ``work``, ``final_answer``; the latter has the problem's format."""
        return self._schemas.integrator(problem)

    def evaluator_schema(self) -> Schema:
        """Return the schema ``verdict`` (PASS or FAIL), ``correctness`` (1 or 0)."""
        return self._schemas.evaluator()

    def _load(self, role: Role) -> None:
        allowed = (*FIXED_VARIABLES, *VARIABLES[role])
        opening = self._folder.load(f"{role}.j2", "system", allowed)
        self._questions[role] = self._folder.load(f"{role}.j2", "user", allowed)
        for answer_format in ANSWER_FORMATS:
            worked = self._folder.load_worked(f"worked_{role}_{answer_format}.j2", allowed)
            for has_options, has_messages in product((False, True), repeat=2):
                view = {
                    "answer_format": answer_format,
                    "has_options": has_options,
                    "has_messages": has_messages,
                    "field_order": self._settings.field_order,
                    "confidence_levels": self._settings.confidence_levels,
                }
                self._fixed[role, answer_format, has_options, has_messages] = (
                    *opening.render(view),
                    *(worked.render(view) if worked else ()),
                )

    def _render(
        self, role: Role, problem: Problem, view: Mapping[str, Any], has_messages: bool = False
    ) -> tuple[Turn, ...]:
        fixed = self._fixed[role, problem.answer_format, bool(problem.options), has_messages]
        return (*fixed, *self._questions[role].render(view))

    def _try_every_question(self) -> None:
        role = ExpertRole("name", "lens")
        full = IndexedMessage(1, role, MessageFields(*FIELD_NAMES))
        bare = IndexedMessage(2, role, MessageFields())
        for answer_format in ANSWER_FORMATS:
            for options in (None, ("one", "two")):
                problem = Problem("uid", "benchmark", "problem", "1", answer_format, options)
                self.recruiter(problem)
                self.hypothesizer(problem, role)
                self.integrator(problem, ())
                self.integrator(problem, (full, bare))
                self.evaluator(problem, "1")


@lru_cache(maxsize=4096)
def problem_view(problem: Problem) -> Mapping[str, Any]:
    """Return what a template may know of a problem: never its reference."""
    options = problem.options or ()
    if shows_options(problem.problem, options):
        options = ()
    return {
        "problem": problem.problem,
        "options": list(zip(ascii_uppercase, options, strict=False)),
        "unit": unit_without_factor(problem.unit),
        "answer_format": problem.answer_format,
    }


def _role_view(role: ExpertRole) -> dict[str, str]:
    return {"name": role.name, "lens": role.lens}


def _message_view(message: IndexedMessage) -> dict[str, Any]:
    present = {
        name: value for name in FIELD_NAMES if (value := getattr(message.fields, name)) is not None
    }
    return {"index": message.index, "role": _role_view(message.role), "fields": present}
