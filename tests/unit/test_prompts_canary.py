"""LAB-Bench's canary, by which its authors find their data in training sets, is in no prompt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dhd.benchmarks import load_benchmark
from dhd.config.benchmarks import BenchmarkSettings
from dhd.config.prompts import PromptSettings
from dhd.messages import ExpertRole, MessageFields
from dhd.problems import Problem
from dhd.prompts import IndexedMessage, PromptSet
from dhd.prompts.protocol_views import Rejected, Standpoint, Statement
from dhd.prompts.protocols import ProtocolPrompts
from dhd.requests import Turn
from support import benchmark_files as files

ROLE = ExpertRole("Reader", "reads what is asked first")
REJECTED = (Rejected("B", "Read the question again."),)
PEER = Standpoint(2, REJECTED, (Statement(1, "It is B."),), ("Not sure.",))
SIZES = {"SeqQA": 3, "ProtocolQA": 3, "CloningScenarios": 2}


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> tuple[Problem, ...]:
    """Load own-written rows, each with a canary, through the benchmark's own loader."""
    folder = files.write_lab_bench(tmp_path_factory.mktemp("lab"), SIZES)
    settings = BenchmarkSettings(
        loader="lab_bench", path=str(folder), expected_count=sum(SIZES.values())
    )
    return load_benchmark("lab_bench", settings, folder).problems


def scan_prompts(prompts: PromptSet, problem: Problem) -> Iterator[tuple[Turn, ...]]:
    message = IndexedMessage(1, ROLE, MessageFields(proposed_answer="B", key_idea="Count."))
    yield prompts.recruiter(problem)
    yield prompts.hypothesizer(problem, ROLE)
    yield prompts.integrator(problem, ())
    yield prompts.integrator(problem, [message])
    yield prompts.evaluator(problem, "B")


def protocol_prompts(prompts: ProtocolPrompts, problem: Problem) -> Iterator[tuple[Turn, ...]]:
    for prompt in (
        prompts.solver(problem, REJECTED),
        prompts.planner(problem, REJECTED, "a plan", "a review"),
        prompts.executor(problem, REJECTED, "a plan", "a review"),
        prompts.reviewer(problem, REJECTED, "a plan", "work", "B"),
        prompts.poll(problem, PEER),
        prompts.statement(problem, PEER, "a thought", "B"),
        prompts.note(problem, PEER, "a thought", "B"),
        prompts.vote(problem, PEER, "B"),
        prompts.hint(problem, "B"),
    ):
        yield prompt.turns


@pytest.mark.parametrize("folder", ["resources/prompts", "resources/demo/prompts"])
def test_the_canary_is_in_no_prompt(
    project_root: Path, problems: tuple[Problem, ...], folder: str
) -> None:
    for subset, size in SIZES.items():
        assert {row["canary"] for row in files.lab_bench_rows(subset, size)} == {files.CANARY}
    settings = PromptSettings(folder=folder)
    own = PromptSet(settings, project_root), ProtocolPrompts(settings, project_root)
    assert len(problems) == sum(SIZES.values())
    for problem in problems:
        rendered = [*scan_prompts(own[0], problem), *protocol_prompts(own[1], problem)]
        texts = ["\n".join(turn.content for turn in turns) for turns in rendered]
        # All but the evaluator's verdict and hint show the question.
        assert sum(problem.problem in text for text in texts) == len(texts) - 2
        for text in texts:
            assert files.CANARY not in text
            assert "canary" not in text.lower()
