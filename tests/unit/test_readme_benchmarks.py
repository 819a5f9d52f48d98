"""What the README says of benchmarks and of a user's own problems, tried as it stands there."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from dhd.answers import compare_answers
from dhd.benchmarks import load_benchmark
from dhd.benchmarks.user import UserRow
from dhd.config.benchmarks import BenchmarkSettings
from dhd.config.load import load_study
from dhd.errors import BenchmarkError
from dhd.problems import ANSWER_FORMATS, Problem

SPAN = re.compile(r"`([^`]+)`")


def section(readme: str, title: str) -> str:
    return readme.split(f"\n## {title}\n")[1].split("\n## ")[0]


def block(text: str, language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)
    assert found is not None
    return found[1]


def table(text: str) -> list[list[str]]:
    """Return the cells of a section's table, without its head."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]


@pytest.fixture(scope="module")
def readme(project_root: Path) -> str:
    return (project_root / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def lines(readme: str) -> list[dict[str, Any]]:
    own = section(readme, "Your own problems")
    return [json.loads(line) for line in block(own, "json").splitlines()]


@pytest.fixture
def formats(readme: str) -> dict[str, list[str]]:
    """Return answer format → the further cells of its row."""
    return {row[0].strip("`"): row[1:] for row in table(section(readme, "Your own problems"))}


@pytest.fixture
def own(readme: str, tmp_path: Path) -> Path:
    path = tmp_path / "problems.jsonl"
    path.write_text(block(section(readme, "Your own problems"), "json"), encoding="utf-8")
    return path


def load(path: Path, **settings: Any) -> tuple[Problem, ...]:
    checked = BenchmarkSettings(loader="user", path=str(path), **settings)
    return load_benchmark("own", checked, path).problems


def judged(problem: Problem, answer: str) -> bool | None:
    return compare_answers(problem, answer, prompt_shows_factor=False).equivalent


def test_there_is_a_line_and_a_row_for_each_format(
    lines: list[dict[str, Any]], formats: dict[str, list[str]]
) -> None:
    assert [line["answer_format"] for line in lines] == list(formats)
    assert sorted(formats) == sorted(ANSWER_FORMATS)


def test_every_line_loads_and_its_answers_are_judged_as_said(
    own: Path, formats: dict[str, list[str]]
) -> None:
    for problem in load(own):
        _, right, wrong = formats[problem.answer_format]
        expected = None if wrong.endswith("(undecided)") else False
        assert [judged(problem, answer) for answer in SPAN.findall(right)] == [True], right
        assert [judged(problem, answer) for answer in SPAN.findall(wrong)] == [expected], wrong


@pytest.mark.parametrize("answer_format", ["numeric", "choice", "multi_choice"])
def test_every_form_of_reference_is_accepted(
    formats: dict[str, list[str]], answer_format: str
) -> None:
    references = SPAN.findall(formats[answer_format][0])
    options = ["w", "x", "y", "z"] if answer_format != "numeric" else None
    assert references
    for reference in references:
        row = {"problem_id": "p", "problem": "?", "reference": reference, "options": options}
        text = json.dumps(row | {"answer_format": answer_format})
        assert UserRow.model_validate_json(text).reference == reference


def test_strata_and_units_do_what_is_said(own: Path, lines: list[dict[str, Any]]) -> None:
    easy = load(own, strata=["easy"])
    assert [problem.problem_uid for problem in easy] == ["own:p2", "own:p3"]
    fall = easy[1]
    assert judged(fall, "1960 cm/s") is True
    assert judged(fall, "1960 cm") is None


def test_near_a_single_number_is_undecided() -> None:
    problem = Problem("u", "own", "?", "9.81", "numeric")
    assert [judged(problem, answer) for answer in ("9.81", "9.8", "9.2")] == [True, None, False]


@pytest.mark.parametrize(
    "change", [{"reference": 5}, {"colour": "red"}, {"options": ["one"]}, {"answer_format": "word"}]
)
def test_what_is_said_to_be_refused_is(lines: list[dict[str, Any]], change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        UserRow.model_validate_json(json.dumps(lines[0] | change))


def test_the_study_file_is_valid(readme: str, project_root: Path) -> None:
    written = yaml.safe_load(block(section(readme, "Your own study"), "yaml"))
    study = load_study(written, source="mine.yaml", root=project_root)
    assert study.settings.study == "mine"


def test_scibench_needs_the_files_named_and_no_other(
    readme: str, shared_dir: Path, tmp_path: Path
) -> None:
    row = next(row for row in table(section(readme, "Real benchmarks")) if "SciBench" in row[0])
    names = [name for name in SPAN.findall(row[1]) if re.fullmatch(r"\w+\.json", name)]
    assert len(names) == 10
    for name in names:
        shutil.copy(shared_dir / "data" / "scibench" / "dataset" / "original" / name, tmp_path)
    settings = BenchmarkSettings(loader="scibench", path=str(tmp_path))
    loaded = load_benchmark("scibench", settings, tmp_path)
    assert len(loaded.problems) == 580
    assert sorted(loaded.checksums) == sorted(names)
    (tmp_path / names[0]).unlink()
    with pytest.raises(BenchmarkError, match="expected 580"):
        load_benchmark("scibench", settings, tmp_path)
