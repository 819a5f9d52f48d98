"""JSON schemas of the structured answers, one object per distinct schema."""

from __future__ import annotations

from itertools import combinations
from string import ascii_uppercase
from typing import Any, Final

from dhd.config.prompts import LimitedField, PromptSettings
from dhd.messages import POOL_SIZE
from dhd.problems import AnswerFormat, Problem
from dhd.requests import Role

Schema = dict[str, Any]

#: More options than this give a pattern instead of a list of all their subsets.
MOST_OPTIONS_LISTED: Final = 6
#: Digits in a row that an answer may have where no shorter limit is set; keeps a model from
#: writing digits until its token budget ends.
MOST_DIGITS: Final = 30


class AnswerSchemas:
    """Builds the schemas of a study; equal schemas are one object, which engines may cache.

    Every schema is an object whose keys are all required, in the order in which they are
    to be written, and which has no further keys.
    """

    def __init__(self, settings: PromptSettings) -> None:
        self._settings = settings
        self._recruiter = object_of({"roles": _list_of(self.text("role"), POOL_SIZE)})
        self._evaluator = object_of(
            {
                "verdict": {"type": "string", "enum": ["PASS", "FAIL"]},
                "correctness": {"type": "integer", "enum": [1, 0]},
            }
        )
        self._by_answer: dict[tuple[Role, AnswerFormat, tuple[str, ...]], Schema] = {}

    def recruiter(self) -> Schema:
        """Return ``{"roles": [five strings "Name: lens"]}``."""
        return self._recruiter

    def evaluator(self) -> Schema:
        """Return ``{"verdict": "PASS" | "FAIL", "correctness": 1 | 0}``."""
        return self._evaluator

    def hypothesizer(self, problem: Problem) -> Schema:
        """Return the six fields of a message in the configured order."""
        key = self._key("hypothesizer", problem)
        if key not in self._by_answer:
            self._by_answer[key] = object_of(
                {name: self._field(name, problem) for name in self._settings.field_order}
            )
        return self._by_answer[key]

    def integrator(self, problem: Problem) -> Schema:
        """Return ``{"work": text, "final_answer": answer}``."""
        key = self._key("integrator", problem)
        if key not in self._by_answer:
            answer = self.answer("final_answer", problem)
            self._by_answer[key] = object_of({"work": self.text("work"), "final_answer": answer})
        return self._by_answer[key]

    def _key(self, role: Role, problem: Problem) -> tuple[Role, AnswerFormat, tuple[str, ...]]:
        return role, problem.answer_format, self._choices(problem)

    def _choices(self, problem: Problem) -> tuple[str, ...]:
        """Return what a choice answer is among, empty where the options are not known."""
        options = problem.options or ()
        if problem.answer_format == "choice" and self._settings.choice_answers == "texts":
            return tuple(dict.fromkeys(options))
        return tuple(ascii_uppercase[: len(options)])

    def _field(self, name: Any, problem: Problem) -> Schema:
        if name == "proposed_answer":
            return self.answer("proposed_answer", problem)
        if name == "confidence":
            return {"type": "string", "enum": list(self._settings.confidence_levels)}
        return self.text(name)

    def text(self, name: LimitedField) -> Schema:
        """Return the schema of a text, as long as the settings allow for its name."""
        limit = self._settings.field_max_chars.get(name)
        return {"type": "string"} if limit is None else {"type": "string", "maxLength": limit}

    def answer(self, name: LimitedField, problem: Problem) -> Schema:
        """Return the schema of an answer in the problem's format."""
        choices = self._choices(problem)
        pattern = self._settings.answer_patterns.get(problem.answer_format)
        if pattern is not None:
            return {"type": "string", "pattern": pattern}
        if self._settings.constrain_answers:
            match problem.answer_format:
                case "choice":
                    return _one_of(choices)
                case "multi_choice":
                    return _some_of(choices, self._settings.multi_choice_count)
                case "matching" if choices:
                    return _one_of(choices)
                case "integer":
                    return {"type": "string", "pattern": f"^-?{self._digits(name)}$"}
                case "numeric":
                    digits = self._digits(name)
                    exponent = "([eE][-+]?[0-9]{1,3})?"
                    return {"type": "string", "pattern": rf"^-?{digits}(\.{digits})?{exponent}$"}
        return self.text(name)

    def _digits(self, name: LimitedField) -> str:
        limit = min(MOST_DIGITS, self._settings.field_max_chars.get(name, MOST_DIGITS))
        return f"[0-9]{{1,{limit}}}"


def object_of(properties: dict[str, Schema]) -> Schema:
    """Return the schema of an object with exactly these keys, in this order."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list_of(items: Schema, count: int) -> Schema:
    return {"type": "array", "items": items, "minItems": count, "maxItems": count}


def _one_of(choices: tuple[str, ...]) -> Schema:
    if choices:
        return {"type": "string", "enum": list(choices)}
    return {"type": "string", "pattern": "^[A-Z]$"}


def _some_of(letters: tuple[str, ...], count: int | None) -> Schema:
    if not letters or len(letters) > MOST_OPTIONS_LISTED:
        more = "{0,25}" if count is None else f"{{{count - 1}}}"
        return {"type": "string", "pattern": f"^[A-Z](, [A-Z]){more}$"}
    sizes = range(1, len(letters) + 1) if count is None else [min(count, len(letters))]
    return {
        "type": "string",
        "enum": [", ".join(some) for size in sizes for some in combinations(letters, size)],
    }
