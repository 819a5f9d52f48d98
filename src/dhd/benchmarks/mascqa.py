"""MaScQA: materials-science exam questions, joined from a question file and a score sheet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Generic, Literal, TypeVar

from pydantic import BeforeValidator, Field

from dhd.benchmarks.files import SourceFile, parse_json, read_sheet
from dhd.benchmarks.loaded import Loaded, Loading, listing, note
from dhd.benchmarks.mascqa_golds import GoldShape, gold_shape
from dhd.benchmarks.options import INLINE_MARKER, UNCERTAIN_OPTIONS, parse_options
from dhd.benchmarks.rows import Row, Text, Trimmed, parse_row
from dhd.errors import BenchmarkError
from dhd.problems import AnswerFormat, Problem

QUESTIONS = ("mascqa-eval.json",)
ANSWERS = ("scoresheets/all_questions.xlsx", "all_questions.xlsx")

QuestionType = Literal["MCQS", "NUM", "MATCH", "MCQS-NUM"]
_FORMATS: dict[QuestionType, AnswerFormat] = {
    "MCQS": "choice",
    "MCQS-NUM": "choice",
    "MATCH": "matching",
    "NUM": "numeric",
}
_SHAPES: dict[AnswerFormat, frozenset[GoldShape]] = {
    "choice": frozenset({"letter", "alternatives", "void"}),
    "multi_choice": frozenset({"letters"}),
    "matching": frozenset({"letter", "alternatives", "void"}),
    "numeric": frozenset({"number", "range", "void"}),
}


def _cell_text(cell: object) -> object:
    """Return a cell as trimmed text; the sheet keeps single numbers as numbers, ranges as text."""
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return str(cell)
    return cell


class _Topic(Row):
    qids: list[Trimmed]
    qstr: list[QuestionType]
    questions: list[Text]


class _Answer(Row):
    name: Annotated[Trimmed, Field(alias="Question Info")]
    type: Annotated[QuestionType, BeforeValidator(_cell_text), Field(alias="Question Type")]
    gold: Annotated[Trimmed, BeforeValidator(_cell_text), Field(alias="Correct Answer")]


ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True)
class _Question:
    topic: str
    type: QuestionType
    text: str


@dataclass(slots=True)
class _Unique(Generic[ItemT]):
    """Items by id; an exact repetition is collapsed and remembered, another one refused."""

    items: dict[str, ItemT] = field(default_factory=dict)
    repeated: dict[str, None] = field(default_factory=dict)

    def add(self, name: str, item: ItemT, where: str) -> None:
        if name in self.items:
            if self.items[name] != item:
                raise BenchmarkError(
                    f"{where}: {name}: found {item}, yet earlier {self.items[name]}; "
                    "expected unique ids or exact repetitions"
                )
            self.repeated[name] = None
        self.items[name] = item


def load_mascqa(loading: Loading) -> Loaded:
    """Load MaScQA: questions of ``mascqa-eval.json`` with the answers of the score sheet.

    The question type is the stratum and decides the answer format: MCQS and MCQS-NUM
    ``choice`` (``multi_choice`` where the reference lists several letters), MATCH
    ``matching``, NUM ``numeric``. The reference is the upstream text, trimmed, odd
    ones included; the notes name those that have no right or wrong answer. Options are part
    of the question's text, which is kept whole; where it ends in four options they are also
    given as ``options``, else that is None. A repeated id is collapsed when both rows
    are the same, else refused.
    """
    loading.source.need_folder([*QUESTIONS, ANSWERS[0]])
    loaded = Loaded()
    question_file = loading.source.read(QUESTIONS)
    answer_file = loading.source.read(ANSWERS)
    unique_questions = _questions(question_file)
    unique_answers = _answers(answer_file)
    questions, answers = unique_questions.items, unique_answers.items
    _check_join(questions, answers, question_file, answer_file)
    for name, question in questions.items():
        loaded.problems.append(
            Problem(
                problem_uid=f"mascqa:{name}",
                benchmark=loading.key,
                problem=question.text,
                reference=answers[name].gold,
                answer_format=_answer_format(question.type, answers[name].gold),
                options=_options(question),
                stratum=question.type,
                license=loading.license,
                source=f"{question_file.name} {question.topic}; {answer_file.name}",
                source_sha256=question_file.sha256,
            )
        )
    repeated = list(unique_questions.repeated | unique_answers.repeated)
    if repeated:
        what = "exact duplicate" if len(repeated) == 1 else "exact duplicates"
        loaded.notes.append(f"{len(repeated)} {what} collapsed: {listing(repeated)}")
    loaded.notes += _gold_notes(loaded.problems)
    return loaded


def _questions(file: SourceFile) -> _Unique[_Question]:
    topics = parse_json(file)
    if not isinstance(topics, Mapping):
        raise BenchmarkError(f"{file.path}: found {type(topics).__name__}, expected a JSON object")
    questions: _Unique[_Question] = _Unique()
    for name, value in topics.items():
        where = f"{file.path}: {name}"
        topic = parse_row(_Topic, value, where)
        lengths = (len(topic.qids), len(topic.qstr), len(topic.questions))
        if len(set(lengths)) > 1:
            raise BenchmarkError(
                f"{where}: found {lengths[0]} qids, {lengths[1]} qstr and {lengths[2]} questions, "
                "expected as many of each"
            )
        for qid, kind, text in zip(topic.qids, topic.qstr, topic.questions, strict=True):
            questions.add(qid, _Question(name, kind, text), where)
    return questions


def _answers(file: SourceFile) -> _Unique[_Answer]:
    answers: _Unique[_Answer] = _Unique()
    for number, value in enumerate(read_sheet(file), start=2):
        where = f"{file.path}: row {number}"
        answer = parse_row(_Answer, value, where)
        answers.add(answer.name, answer, where)
    return answers


def _check_join(
    questions: Mapping[str, _Question],
    answers: Mapping[str, _Answer],
    question_file: SourceFile,
    answer_file: SourceFile,
) -> None:
    for have, lack, file in (
        (questions, answers, answer_file),
        (answers, questions, question_file),
    ):
        missing = [name for name in have if name not in lack]
        if missing:
            raise BenchmarkError(
                f"{file.path}: found no row for {len(missing)} ids: {listing(missing)}"
            )
    for name, question in questions.items():
        if answers[name].type != question.type:
            raise BenchmarkError(
                f"{answer_file.path}: {name}: Question Type: found {answers[name].type}, "
                f"expected {question.type} as in {question_file.name}"
            )


def _answer_format(question_type: QuestionType, gold: str) -> AnswerFormat:
    answer_format = _FORMATS[question_type]
    if answer_format == "choice" and gold_shape(gold) == "letters":
        return "multi_choice"
    return answer_format


def _options(question: _Question) -> tuple[str, ...] | None:
    if question.type == "NUM":
        return None
    return parse_options(question.text, INLINE_MARKER)


def _gold_notes(problems: list[Problem]) -> list[str]:
    named: dict[str, list[str]] = {}
    for problem in problems:
        shape = gold_shape(problem.reference)
        name = f"{problem.problem_uid} ({problem.reference})"
        if shape == "void":
            named.setdefault("void references (no answer is right or wrong)", []).append(name)
        elif shape not in _SHAPES[problem.answer_format]:
            named.setdefault("references outside the written rules", []).append(name)
        elif shape == "alternatives":
            named.setdefault("references with alternatives", []).append(name)
        if problem.answer_format != "numeric" and problem.options is None:
            named.setdefault(UNCERTAIN_OPTIONS, []).append(problem.problem_uid)
    return [note(what, names) for what, names in named.items()]
