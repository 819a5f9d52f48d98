"""Prompts of the end-to-end protocols, with the schemas of the answers that they ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

from dhd.config.prompts import PromptSettings
from dhd.problems import ANSWER_FORMATS, AnswerFormat, Problem
from dhd.prompts.protocol_views import Rejected, Standpoint, Statement
from dhd.prompts.render import OF_PROBLEM, problem_view
from dhd.prompts.schemas import AnswerSchemas, Schema, object_of
from dhd.prompts.templates import BASE_FOLDER, ChatTemplate, TemplateFolder
from dhd.requests import Turn

Temperament = Literal["builder", "skeptic", "explorer"]
Call = Literal[
    "solver",
    "planner",
    "executor",
    "reviewer",
    "poll",
    "statement",
    "note",
    "vote",
    "hint",
]

TEMPERAMENTS: Final[tuple[Temperament, ...]] = ("builder", "skeptic", "explorer")
"""The peers of Broadcast, by number from 1."""

ROUTES: Final = ("agree", "planner", "executor")
"""Where a reviewer sends the work."""

_FIXED: Final = ("answer_format", "has_options", "has_messages", "temperament")
_SOLVES: Final = (*OF_PROBLEM, "rejected")
_DISCUSSES: Final = (*_SOLVES, "statements", "notes", "peer")
#: What each template may use beside the fixed variables. No solving role has a name for the
#: reference, and the hint none for problem, options or reasoning.
VARIABLES: Final[Mapping[Call, tuple[str, ...]]] = {
    "solver": _SOLVES,
    "planner": (*_SOLVES, "plan", "review"),
    "executor": (*_SOLVES, "plan", "review"),
    "reviewer": (*_SOLVES, "plan", "work", "answer"),
    "poll": _DISCUSSES,
    "statement": (*_DISCUSSES, "thought", "candidate"),
    "note": (*_DISCUSSES, "thought", "candidate"),
    "vote": (*_DISCUSSES, "candidate"),
    "hint": ("submitted", "reference", "answer_format", "unit"),
}


#: Worked turns of each call, where a folder has them; two calls answer as the integrator does.
_WORKED: Final[Mapping[Call, str]] = {
    call: "worked_integrator" if call in ("solver", "executor") else f"worked_protocol_{call}"
    for call in VARIABLES
}


@dataclass(frozen=True, slots=True)
class Prompt:
    """A rendered chat prompt and the schema of its answer."""

    turns: tuple[Turn, ...]
    schema: Schema


class ProtocolPrompts:
    """The prompts of Direct, Iterative, PER and Broadcast.

    All templates (``protocol_<call>.j2``) are compiled and tried once here. Rendering is a
    pure function of its arguments.

    Parameters
    ----------
    settings
        The ``prompts`` section of the config.
    root
        The project root, to which ``settings.folder`` is relative.

    Raises
    ------
    ConfigError
        A template is missing or faulty, or uses a variable that its call does not have.
    """

    def __init__(self, settings: PromptSettings, root: Path) -> None:
        self._schemas = AnswerSchemas(settings)
        self._texts: dict[tuple[str, ...], Schema] = {}
        self._by_answer: dict[tuple[str, str, int], Schema] = {}
        self._folder = TemplateFolder(root / settings.folder, root / BASE_FOLDER)
        self._questions: dict[Call, ChatTemplate] = {}
        self._fixed: dict[tuple[Call, AnswerFormat, bool, str], tuple[Turn, ...]] = {}
        for call in VARIABLES:
            self._load(call)
        self._try_every_question()

    def solver(self, problem: Problem, rejected: Sequence[Rejected] = ()) -> Prompt:
        """Return the prompt of one solver: the problem, rejected answers and their hints."""
        turns = self._render("solver", problem, _solving(problem, rejected))
        return Prompt(turns, self._schemas.integrator(problem))

    def planner(
        self,
        problem: Problem,
        rejected: Sequence[Rejected],
        plan: str | None = None,
        review: str | None = None,
    ) -> Prompt:
        """Return the prompt that asks for a plan; an earlier one comes with its review."""
        view = {**_solving(problem, rejected), "plan": plan, "review": review}
        return Prompt(self._render("planner", problem, view), self._text("plan"))

    def executor(
        self,
        problem: Problem,
        rejected: Sequence[Rejected],
        plan: str,
        review: str | None = None,
    ) -> Prompt:
        """Return the prompt that asks to carry out a plan, for the second time with a review."""
        view = {**_solving(problem, rejected), "plan": plan, "review": review}
        turns = self._render("executor", problem, view)
        return Prompt(turns, self._schemas.integrator(problem))

    def reviewer(
        self,
        problem: Problem,
        rejected: Sequence[Rejected],
        plan: str,
        work: str,
        answer: str | None,
    ) -> Prompt:
        """Return the prompt that asks for a review and where the work goes next."""
        view = {**_solving(problem, rejected), "plan": plan, "work": work, "answer": answer}
        schema = self._answering(
            "review", problem, "final_answer", {"route": {"type": "string", "enum": list(ROUTES)}}
        )
        return Prompt(self._render("reviewer", problem, view), schema)

    def poll(self, problem: Problem, standpoint: Standpoint) -> Prompt:
        """Return the prompt that asks a peer for a candidate and a score from 1 to 100."""
        schema = self._answering(
            "thought",
            problem,
            "candidate",
            after={"score": {"type": "integer", "minimum": 1, "maximum": 100}},
        )
        return Prompt(self._peer("poll", problem, standpoint), schema)

    def statement(
        self, problem: Problem, standpoint: Standpoint, thought: str, candidate: str | None
    ) -> Prompt:
        """Return the prompt that gives a peer the floor."""
        turns = self._peer(
            "statement", problem, standpoint, {"thought": thought, "candidate": candidate}
        )
        return Prompt(turns, self._text("statement"))

    def note(
        self, problem: Problem, standpoint: Standpoint, thought: str, candidate: str | None
    ) -> Prompt:
        """Return the prompt that asks a peer for a private note."""
        turns = self._peer(
            "note", problem, standpoint, {"thought": thought, "candidate": candidate}
        )
        return Prompt(turns, self._text("note"))

    def vote(self, problem: Problem, standpoint: Standpoint, candidate: str) -> Prompt:
        """Return the prompt that asks a peer to approve or revise a candidate."""
        turns = self._peer("vote", problem, standpoint, {"candidate": candidate})
        schema = self._answering("assessment", problem, "revision", {"approve": _BOOLEAN})
        return Prompt(turns, schema)

    def hint(self, problem: Problem, submitted: str) -> Prompt:
        """Return the evaluator's prompt for a hint: submission, reference and answer format."""
        view = {
            "submitted": submitted,
            "reference": problem.reference,
            "answer_format": problem.answer_format,
            "unit": problem.unit,
        }
        return Prompt(self._render("hint", problem, view), self._text("hint"))

    def _peer(
        self,
        call: Call,
        problem: Problem,
        standpoint: Standpoint,
        more: Mapping[str, Any] | None = None,
    ) -> tuple[Turn, ...]:
        view = {
            **_solving(problem, standpoint.rejected),
            "statements": [asdict(one) for one in standpoint.statements],
            "notes": standpoint.notes,
            "peer": standpoint.peer,
            **(more or {}),
        }
        return self._render(call, problem, view, TEMPERAMENTS[standpoint.peer - 1])

    def _text(self, name: Literal["plan", "statement", "note", "hint"]) -> Schema:
        if (name,) not in self._texts:
            self._texts[name,] = object_of({name: self._schemas.text(name)})
        return self._texts[name,]

    def _answering(
        self,
        text: Literal["review", "thought", "assessment"],
        problem: Problem,
        answer: Literal["final_answer", "candidate", "revision"],
        before: Mapping[str, Schema] | None = None,
        after: Mapping[str, Schema] | None = None,
    ) -> Schema:
        """Return the schema of a text and an answer, with more before and after the answer."""
        key = (text, problem.answer_format, len(problem.options or ()))
        if key not in self._by_answer:
            self._by_answer[key] = object_of(
                {
                    text: self._schemas.text(text),
                    **(before or {}),
                    answer: self._schemas.answer(answer, problem),
                    **(after or {}),
                }
            )
        return self._by_answer[key]

    def _load(self, call: Call) -> None:
        name = f"protocol_{call}.j2"
        allowed = (*_FIXED, *VARIABLES[call])
        opening = self._folder.load(name, "system", allowed)
        self._questions[call] = self._folder.load(name, "user", allowed)
        temperaments = TEMPERAMENTS if "peer" in VARIABLES[call] else ("",)
        for answer_format in ANSWER_FORMATS:
            worked = self._folder.load_worked(f"{_WORKED[call]}_{answer_format}.j2", allowed)
            for has_options in (False, True):
                for temperament in temperaments:
                    view = {
                        "answer_format": answer_format,
                        "has_options": has_options,
                        "has_messages": False,
                        "temperament": temperament,
                    }
                    self._fixed[call, answer_format, has_options, temperament] = (
                        *opening.render(view),
                        *(worked.render(view) if worked else ()),
                    )

    def _render(
        self, call: Call, problem: Problem, view: Mapping[str, Any], temperament: str = ""
    ) -> tuple[Turn, ...]:
        fixed = self._fixed[call, problem.answer_format, bool(problem.options), temperament]
        return (*fixed, *self._questions[call].render(view))

    def _try_every_question(self) -> None:
        rejected = (Rejected("1", "hint"), Rejected(None, "hint"))
        peer = Standpoint(1, rejected, (Statement(1, "a"), Statement(2, "b")), ("note",))
        for answer_format in ANSWER_FORMATS:
            for options in (None, ("one", "two")):
                problem = Problem("uid", "benchmark", "problem", "1", answer_format, options)
                self.solver(problem, rejected)
                self.planner(problem, rejected, "plan", "review")
                self.executor(problem, rejected, "plan", "review")
                self.reviewer(problem, rejected, "plan", "work", "1")
                self.poll(problem, peer)
                self.statement(problem, peer, "thought", "1")
                self.note(problem, peer, "thought", None)
                self.vote(problem, peer, "1")
                self.hint(problem, "1")


_BOOLEAN: Final[Schema] = {"type": "boolean"}


def _solving(problem: Problem, rejected: Sequence[Rejected]) -> dict[str, Any]:
    return {**problem_view(problem), "rejected": [asdict(one) for one in rejected]}
