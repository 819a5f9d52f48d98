"""Schemas of structured answers, and that answers which conform to them can be parsed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from pydantic import ValidationError

from dhd.config.prompts import FIELDS_OF, LimitedField, PromptSettings
from dhd.messages import FIELD_NAMES
from dhd.parsing import parse_message, parse_roster, parse_verdict
from dhd.problems import ANSWER_FORMATS, AnswerFormat, Problem
from dhd.prompts import PromptSet
from dhd.prompts.protocol_views import Standpoint
from dhd.prompts.protocols import VARIABLES, ProtocolPrompts
from dhd.prompts.schemas import Schema
from dhd.prompts.sources import prompt_sources

ANSWERS: dict[AnswerFormat, tuple[list[str], list[str]]] = {
    "math": (["\\frac{1}{2}", "x + 1"], []),
    "choice": (["A", "D"], ["E", "a", "AB", ""]),
    "multi_choice": (["A", "A, C", "A, B, C, D"], ["C, A", "AC", "E", ""]),
    "integer": (["0", "-12", "1000"], ["1.5", "twelve", "", "1" * 31]),
    "numeric": (["0.25", "-3", "6.02e23", "1E-5"], ["1/3", "2 m", ".", "1e1000"]),
    "matching": (["B"], ["P-1, Q-2"]),
    "text": (["any words"], []),
}


def problem_of(answer_format: AnswerFormat, options: int = 4) -> Problem:
    texts = tuple(f"option {number}" for number in range(options)) or None
    return Problem("uid", "benchmark", "problem", "reference", answer_format, texts)


TEXT = problem_of("text")


def conforms(value: object, schema: dict[str, Any]) -> bool:
    return bool(jsonschema.Draft202012Validator(schema).is_valid(value))


def prompts_of(root: Path, **settings: object) -> PromptSet:
    return PromptSet(PromptSettings(**settings), root)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def prompts(project_root: Path) -> PromptSet:
    return prompts_of(project_root)


@pytest.mark.parametrize("answer_format", ANSWER_FORMATS)
def test_answers_are_constrained_by_format(prompts: PromptSet, answer_format: AnswerFormat) -> None:
    schema = prompts.integrator_schema(problem_of(answer_format))
    jsonschema.Draft202012Validator.check_schema(schema)
    right, wrong = ANSWERS[answer_format]
    assert all(conforms({"work": "w", "final_answer": answer}, schema) for answer in right)
    assert not any(conforms({"work": "w", "final_answer": answer}, schema) for answer in wrong)
    assert not conforms({"work": "w"}, schema)
    assert not conforms({"work": "w", "final_answer": right[0], "more": "m"}, schema)


def test_without_options_letters_are_open(prompts: PromptSet) -> None:
    answers = {
        "choice": ("J", "AB"),
        "multi_choice": ("B, J", "BJ"),
        "matching": ("P-1, Q-2", None),
    }
    for answer_format, (right, wrong) in answers.items():
        schema = prompts.integrator_schema(problem_of(answer_format, options=0))  # type: ignore[arg-type]
        assert conforms({"work": "", "final_answer": right}, schema)
        assert not conforms({"work": "", "final_answer": wrong}, schema)


def test_many_options_are_a_pattern(prompts: PromptSet) -> None:
    answer = prompts.integrator_schema(problem_of("multi_choice", 9))["properties"]["final_answer"]
    assert "enum" not in answer
    six = prompts.integrator_schema(problem_of("multi_choice", 6))["properties"]["final_answer"]
    assert len(six["enum"]) == 2**6 - 1


@pytest.mark.parametrize(("options", "pairs"), [(4, 6), (7, None)])
def test_number_of_right_options_can_be_fixed(
    project_root: Path, options: int, pairs: int | None
) -> None:
    prompts = prompts_of(project_root, multi_choice_count=2)
    schema = prompts.integrator_schema(problem_of("multi_choice", options))
    assert len(schema["properties"]["final_answer"].get("enum", ())) == (pairs or 0)
    assert conforms({"work": "", "final_answer": "A, D"}, schema)
    assert not conforms({"work": "", "final_answer": "A"}, schema)
    assert not conforms({"work": "", "final_answer": "A, B, C"}, schema)


def test_choice_answers_can_be_option_texts(project_root: Path) -> None:
    prompts = prompts_of(project_root, choice_answers="texts")
    problem = replace(problem_of("choice"), options=("red", "blue", "red"))
    schema = prompts.integrator_schema(problem)
    assert schema["properties"]["final_answer"]["enum"] == ["red", "blue"]
    assert prompts.integrator_schema(problem_of("choice")) is not schema
    assert conforms(
        {"work": "", "final_answer": "B"}, prompts.integrator_schema(problem_of("matching"))
    )
    open_letters = prompts.integrator_schema(problem_of("choice", options=0))
    assert conforms({"work": "", "final_answer": "B"}, open_letters)


def test_own_pattern_replaces_the_constraint(project_root: Path) -> None:
    prompts = prompts_of(project_root, answer_patterns={"math": "^[0-9]{1,2}$"})
    schema = prompts.integrator_schema(problem_of("math"))
    assert conforms({"work": "", "final_answer": "42"}, schema)
    assert not conforms({"work": "", "final_answer": "421"}, schema)
    assert conforms(
        {"work": "", "final_answer": "421"}, prompts.integrator_schema(problem_of("integer"))
    )


def test_limits_order_and_levels_follow_the_settings(project_root: Path) -> None:
    order = ["reasoning_direction", "proposed_answer", "confidence", *FIELD_NAMES[2:5]]
    prompts = prompts_of(
        project_root,
        field_order=order,
        field_max_chars={"proposed_answer": 3, "key_idea": 5, "role": 7, "work": 9},
        confidence_levels=["no", "yes"],
    )
    schema = prompts.hypothesizer_schema(problem_of("integer"))
    assert list(schema["properties"]) == order == schema["required"]
    assert schema["properties"]["key_idea"] == {"type": "string", "maxLength": 5}
    assert schema["properties"]["what_to_check"] == {"type": "string"}
    assert schema["properties"]["confidence"]["enum"] == ["no", "yes"]
    answer = dict.fromkeys(order, "x") | {"confidence": "no"}
    assert conforms(answer | {"proposed_answer": "-123"}, schema)
    assert not conforms(answer | {"proposed_answer": "1234"}, schema)
    assert prompts.recruiter_schema(problem_of("text"))["properties"]["roles"]["items"] == {
        "type": "string",
        "maxLength": 7,
    }
    assert prompts.integrator_schema(problem_of("text"))["properties"]["work"]["maxLength"] == 9


def test_answers_can_be_left_free(project_root: Path) -> None:
    prompts = prompts_of(project_root, constrain_answers=False)
    for answer_format in ANSWER_FORMATS:
        schema = prompts.hypothesizer_schema(problem_of(answer_format))
        assert schema["properties"]["proposed_answer"] == {"type": "string"}


@pytest.mark.parametrize(
    "settings",
    [
        {"field_order": list(FIELD_NAMES[:5])},
        {"field_order": [*FIELD_NAMES[:5], "key_idea"]},
        {"field_max_chars": {"confidence": 3}},
        {"field_max_chars": {"key_idea": 0}},
        {"confidence_levels": ["high", "high"]},
        {"confidence_levels": ["high", " "]},
        {"multi_choice_count": 0},
        {"answer_patterns": {"math": "[0-9]+"}},
        {"answer_patterns": {"math": "^([0-9]+$"}},
        {"answer_patterns": {"maths": "^[0-9]+$"}},
        {"folders": "resources/prompts"},
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        PromptSettings(**settings)  # type: ignore[arg-type]


def test_equal_schemas_are_one_object(prompts: PromptSet) -> None:
    first, second = problem_of("choice"), problem_of("choice")
    assert prompts.hypothesizer_schema(first) is prompts.hypothesizer_schema(second)
    assert prompts.integrator_schema(first) is prompts.integrator_schema(second)
    assert prompts.recruiter_schema(first) is prompts.recruiter_schema(problem_of("math"))
    assert prompts.evaluator_schema() is prompts.evaluator_schema()
    assert prompts.integrator_schema(first) is not prompts.integrator_schema(
        problem_of("choice", 5)
    )


def test_conforming_roster_parses(prompts: PromptSet) -> None:
    roles = [f"Name {letter}: looks at part {letter}" for letter in "abcde"]
    schema = prompts.recruiter_schema(problem_of("text"))
    assert conforms({"roles": roles}, schema)
    assert not conforms({"roles": roles[:4]}, schema)
    assert not conforms({"roles": [*roles, "Sixth: lens"]}, schema)
    parsed = parse_roster(json.dumps({"roles": roles}))
    assert parsed.status == "ok"
    assert [(role.name, role.lens) for role in parsed.roles] == [
        (f"Name {letter}", f"looks at part {letter}") for letter in "abcde"
    ]


@pytest.mark.parametrize("answer_format", ANSWER_FORMATS)
def test_conforming_message_parses(prompts: PromptSet, answer_format: AnswerFormat) -> None:
    answer = ANSWERS[answer_format][0][0]
    output = {name: f"the {name}" for name in FIELD_NAMES}
    output |= {"proposed_answer": answer, "confidence": "high"}
    assert conforms(output, prompts.hypothesizer_schema(problem_of(answer_format)))
    parsed = parse_message(json.dumps(output))
    assert parsed.status == "ok"
    assert {name: getattr(parsed.fields, name) for name in FIELD_NAMES} == output


@pytest.mark.parametrize(("verdict", "correct"), [("PASS", True), ("FAIL", False)])
def test_conforming_verdict_parses(prompts: PromptSet, verdict: str, correct: bool) -> None:
    output = {"verdict": verdict, "correctness": int(correct)}
    assert conforms(output, prompts.evaluator_schema())
    assert parse_verdict(json.dumps(output)).correct is correct
    assert not conforms(output | {"correctness": 2}, prompts.evaluator_schema())


def test_schemas_use_common_keywords_only(project_root: Path) -> None:
    """Every keyword used is one that structured output engines know."""
    known = {
        "type", "properties", "required", "additionalProperties",
        "items", "minItems", "maxItems", "enum", "pattern", "maxLength",
    }  # fmt: skip
    prompts = prompts_of(project_root, field_max_chars={"work": 9, "final_answer": 5})

    def keywords(schema: dict[str, Any]) -> set[str]:
        inner = [
            *schema.get("properties", {}).values(),
            *([schema["items"]] if "items" in schema else []),
        ]
        return set(schema).union(*(keywords(one) for one in inner))

    for answer_format in ANSWER_FORMATS:
        problem = problem_of(answer_format)
        for schema in (prompts.hypothesizer_schema(problem), prompts.integrator_schema(problem)):
            assert keywords(schema) <= known
    assert keywords(prompts.recruiter_schema(problem_of("text"))) <= known


def answer_schemas(root: Path, settings: PromptSettings) -> dict[str, list[Schema]]:
    """Return the schemas of all answers that each caller asks for."""
    roles, protocols, problem = PromptSet(settings, root), ProtocolPrompts(settings, root), TEXT
    peer = Standpoint(1, (), (), ())
    calls = [
        protocols.solver(problem),
        protocols.planner(problem, ()),
        protocols.executor(problem, (), "plan"),
        protocols.reviewer(problem, (), "plan", "work", "1"),
        protocols.poll(problem, peer),
        protocols.statement(problem, peer, "thought", "1"),
        protocols.note(problem, peer, "thought", "1"),
        protocols.vote(problem, peer, "1"),
        protocols.hint(problem, "1"),
    ]
    assert len(calls) == len(VARIABLES)
    return {
        "recruiter": [roles.recruiter_schema(problem)],
        "hypothesizer": [roles.hypothesizer_schema(problem)],
        "integrator": [roles.integrator_schema(problem)],
        "evaluator": [roles.evaluator_schema()],
        "protocols": [call.schema for call in calls],
    }


@pytest.fixture(scope="module")
def unlimited(project_root: Path) -> dict[str, list[Schema]]:
    return answer_schemas(project_root, PromptSettings())


@pytest.mark.parametrize("field", get_args(LimitedField))
def test_limits_are_known_by_the_callers_whose_answers_have_the_field(
    project_root: Path, unlimited: dict[str, list[Schema]], field: str
) -> None:
    settings = PromptSettings(field_max_chars={field: 9})
    limited = answer_schemas(project_root, settings)
    assert limited.keys() == FIELDS_OF.keys()
    assert limited != unlimited
    for caller in FIELDS_OF:
        known = prompt_sources(settings, project_root, caller)[1]
        assert known == ({} if limited[caller] == unlimited[caller] else {field: 9}), caller


def test_every_text_of_a_message_can_be_limited() -> None:
    assert {*FIELDS_OF["hypothesizer"], "confidence"} == set(FIELD_NAMES)
