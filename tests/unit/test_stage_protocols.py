"""The protocols as a stage: one job or turns of jobs, journals, and what a change asks anew."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from dhd.config.load import Study, load_study
from dhd.config.models import ModelSettings
from dhd.errors import ConfigError, IncompleteError
from dhd.layout import StudyPaths
from dhd.problems import Problem
from dhd.stages import session
from dhd.stages.manifests import read_sample
from dhd.stages.prepare import prepare_problems
from dhd.stages.protocols import (
    ProtocolJob,
    protocol_models,
    protocol_turns,
    turn_models,
)
from dhd.stages.rules import Rules
from dhd.stages.running import run_bundle
from dhd.stages.samples import sample_protocols
from support.fake_endpoint import fake_endpoint
from support.studies import PROJECT_ROOT, SCRIPTED

MODELS: dict[str, Any] = {
    "scripted-a": {"engine": "scripted", "name": "a", "invalid_rate": 0.05},
    "scripted-b": {"engine": "scripted", "name": "b"},
    "scripted-judge": {"engine": "scripted", "name": "judge", "invalid_rate": 0.1},
    "vllm-a": {"engine": "vllm", "path": "org/a", "max_model_len": 100},
    "vllm-judge": {"engine": "vllm", "path": "org/judge", "max_model_len": 100},
    "endpoint": {"engine": "openai", "base_url": "http://localhost/v1", "name": "e"},
}
LLM = {"method": "llm", "evaluator": "scripted-judge"}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("models.yaml").write_text(yaml.safe_dump({"models": MODELS}))


def study_of(protocols: dict[str, Any], **sections: Any) -> Study:
    config = SCRIPTED | {"models_file": "models.yaml", "judging": LLM} | sections
    config |= {"studies": {"protocols": {"problems": 5} | protocols}}
    study = load_study(config, source="test", root=PROJECT_ROOT)
    out = StudyPaths.of("scripted").problems("marbles")
    if not out.exists():
        source = study.resolve(str(study.settings.benchmarks["marbles"].path))
        prepare_problems(study, "marbles", source, out)
    return study


def draw(study: Study) -> Path:
    """Draw the sample of problems; return its manifest."""
    paths = StudyPaths.of("scripted")
    sample = paths.protocol_sample("marbles")
    sample_protocols(study, "marbles", paths.problems("marbles"), sample)
    return sample


def run(study: Study, turn: int = 0, out: str = "runs.parquet") -> pd.DataFrame:
    sample = draw(study)
    run_bundle(study, ProtocolJob("alpha", "marbles", "0000", sample, Path(out), turn))
    return pd.read_parquet(out)


def lines() -> list[dict[str, Any]]:
    """Return all journal lines; ``id`` tells equal requests of two shards apart."""
    return [
        (document := json.loads(line)) | {"id": (path.name, document["key"])}
        for path in sorted(Path("results").rglob("*.jsonl"))
        for line in path.read_text().splitlines()
    ]


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the models whose engines are built, as they are."""
    names: list[str] = []
    build = session.build_engine

    def noting(settings: ModelSettings, _: object) -> Any:
        names.append(settings.identity().name)
        return build(settings)

    monkeypatch.setattr(session, "build_engine", noting)
    return names


def test_turns_of_jobs_end_as_one_job_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: list[str]
) -> None:
    together = run(study_of({}))
    assert Counter(built) == {"a": 1, "judge": 1}
    asked = Counter(line["id"] for line in lines())
    folder = tmp_path / "turns"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("models.yaml").write_text(yaml.safe_dump({"models": MODELS}))
    study = study_of({"alternate": True})
    turns = protocol_turns(study, "alpha")
    assert turns == 12
    for turn in range(1, turns + 1):
        built.clear()
        runs = run(study, turn)
        assert set(built) <= {one.identity().name for one in turn_models(study, "alpha", turn)}
    pd.testing.assert_frame_equal(runs, together)
    assert Counter(line["id"] for line in lines()) == asked
    assert max(asked.values()) == 1


def test_rows_hold_what_the_records_need() -> None:
    runs = run(study_of({}))
    assert runs.groupby("protocol").size().to_dict() == dict.fromkeys(
        ("direct", "iterative", "per", "broadcast"), 5
    )
    assert set(runs["model"]) == {"alpha"}
    assert set(runs["answered_by"]) == {"a"}
    assert set(runs["judged_by"].dropna()) <= {"judge"}
    calls = runs.groupby("protocol")["calls"].mean()
    assert calls["direct"] < calls["iterative"] < calls["per"] < calls["broadcast"]
    assert (runs["prompt_tokens"] > runs["completion_tokens"]).all()


def test_calls_and_tokens_add_up_to_the_journal() -> None:
    runs = run(study_of({}, judging=LLM | {"share_identical_submissions": False}))
    found = lines()
    assert runs["calls"].sum() == len(found)
    for name in ("prompt_tokens", "completion_tokens"):
        assert runs[name].sum() == sum(line.get(name, 0) for line in found)
    judged = [line for line in found if line["answered_by"] == "judge"]
    assert runs["evaluator_calls"].sum() == len(judged)


def test_a_last_turn_without_the_earlier_ones_is_refused() -> None:
    study = study_of({"alternate": True})
    with pytest.raises(IncompleteError, match="wait for a model that an earlier turn"):
        run(study, 12)


def test_a_second_run_starts_no_engine_and_a_new_protocol_asks_only_its_own(
    built: list[str],
) -> None:
    run(study_of({"names": ["direct", "per"]}))
    before = {line["id"] for line in lines()}
    built.clear()
    run(study_of({"names": ["direct", "per"]}))
    assert not built
    runs = run(study_of({"names": ["direct", "iterative", "per"]}))
    asked = [line for line in lines() if line["id"] not in before]
    iterative = runs[runs["protocol"] == "iterative"]
    solved = sum(line["answered_by"] == "a" for line in asked)
    assert solved == (iterative["calls"] - iterative["evaluator_calls"]).sum()
    assert len({line["id"] for line in lines()}) == len(lines())


def test_more_problems_keep_those_that_were_drawn() -> None:
    few, more, every = (read_sample(draw(study_of({"problems": count}))) for count in (3, 8, None))
    assert (len(few), len(more), len(every)) == (3, 8, 20)
    assert set(few) < set(more) < set(every)
    manifest = json.loads(draw(study_of({"problems": 30})).read_text())
    assert (manifest["wanted"], manifest["available"], len(manifest["problems"])) == (30, 20, 20)


def test_one_engine_fills_both_roles_where_actor_and_evaluator_are_one_model(
    built: list[str],
) -> None:
    judging = {"method": "llm", "evaluator": "scripted-a", "shared_with": ["alpha"]}
    study = study_of({}, judging=judging)
    assert protocol_turns(study, "alpha") == 0
    runs = run(study)
    assert built == ["a"]
    assert set(runs["judged_by"].dropna()) == {"a"}


def test_the_evaluator_may_be_behind_an_endpoint() -> None:
    with fake_endpoint("--model", "judge-model") as endpoint:
        models = MODELS | {
            "endpoint": {"engine": "openai", "base_url": endpoint.base_url, "name": "judge-model"}
        }
        Path("models.yaml").write_text(yaml.safe_dump({"models": models}))
        judging = {"method": "llm", "evaluator": "endpoint"}
        runs = run(study_of({"problems": 2, "names": ["direct", "iterative"]}, judging=judging))
    assert set(runs["judged_by"].dropna()) == {"judge-model"}
    assert set(runs["answered_by"]) == {"a"}


def test_rules_judge_without_a_model_and_a_named_model_writes_the_hints(built: list[str]) -> None:
    runs = run(study_of({"names": ["iterative"]}, judging={"method": "rules"}))
    assert built == ["a"]
    assert set(runs["judged_by"].dropna()) == {"rules"}
    assert (runs["evaluator_calls"] == 0).all()
    built.clear()
    helped = study_of(
        {"names": ["iterative"], "hint_writer": "scripted-b"}, judging={"method": "rules"}
    )
    runs = run(helped)
    assert set(built) == {"a", "b"}
    assert runs["evaluator_calls"].sum() > 0
    assert set(runs["judged_by"].dropna()) == {"rules"}


def test_protocols_judge_by_the_rules_of_the_scan() -> None:
    """The unit carries a power of ten that no prompt shows: the bare reference is wrong."""
    problem = Problem("s:1", "scibench", "How fast?", "7.42", "numeric", unit="$10^{14}$ Hz")
    rules = Rules(study_of({}))
    try:
        answers = ("7.42", r"7.42 \times 10^{14}")
        found = [asyncio.run(rules.compare(problem, answer)).equivalent for answer in answers]
    finally:
        rules.close()
    assert found == [False, True]


def test_a_run_fails_on_the_reference_without_the_power_of_ten_of_its_unit() -> None:
    rows = (
        {
            "problem_id": str(number),
            "problem": f"What is the frequency of source {number}?",
            "reference": str(number % 10),
            "answer_format": "numeric",
            "unit": "$10^{14}$ Hz",
        }
        for number in range(1, 41)
        if number % 10
    )
    Path("rays.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    study = study_of(
        {"names": ["iterative"], "problems": None},
        judging={"method": "rules"},
        benchmarks={"marbles": {"loader": "user", "path": "rays.jsonl"}},
        shards={"problems": 40},
    )
    runs = run(study)
    said_bare = runs["answer"] == (runs["problem_uid"].str.extract(r"(\d)$")[0])
    assert said_bare.any()
    assert (runs["correct"] == 0).all()


@pytest.mark.parametrize(
    ("actor", "evaluator", "protocols", "turns"),
    [
        ("vllm-a", "vllm-judge", {}, 12),
        ("vllm-a", "vllm-judge", {"names": ["direct"]}, 2),
        ("vllm-a", "vllm-judge", {"names": ["broadcast"], "rounds": 2}, 4),
        ("vllm-a", "vllm-judge", {"alternate": False}, 0),
        ("vllm-a", "endpoint", {}, 0),
        ("endpoint", "vllm-judge", {}, 0),
        ("endpoint", "vllm-judge", {"alternate": True}, 12),
    ],
)
def test_jobs_take_turns_where_two_models_cannot_share_a_node(
    actor: str, evaluator: str, protocols: dict[str, Any], turns: int
) -> None:
    study = study_of(
        protocols,
        families={"alpha": {"actor": actor}},
        judging={"method": "llm", "evaluator": evaluator},
    )
    assert protocol_turns(study, "alpha") == turns
    assert list(protocol_models(study, "alpha")) == ["integrator", "evaluator"]


@pytest.mark.parametrize(
    ("protocols", "message"),
    [
        ({"names": ["direct", "direct"]}, "names direct twice"),
        ({"families": ["gamma"]}, "'gamma' is no family"),
        ({"hint_writer": "scripted-b"}, "hints are written by judging.evaluator"),
        ({"hint_writer": "nobody"}, "no such model"),
        ({"note_score": 0}, "greater than or equal to 1"),
    ],
)
def test_faults_are_named(protocols: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        study_of(protocols)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        (["scripted-a"], "at least 2"),
        (["scripted-a", "scripted-a"], "names scripted-a twice"),
        (["scripted-a", "nobody"], "no such model"),
        (["scripted-a", "again"], "is the same model as"),
    ],
)
def test_evaluators_are_distinct_models(models: list[str], message: str) -> None:
    again = MODELS | {"again": MODELS["scripted-a"]}
    Path("models.yaml").write_text(yaml.safe_dump({"models": again}))
    config = SCRIPTED | {
        "models_file": "models.yaml",
        "judging": LLM,
        "studies": {"evaluators": {"models": models}},
    }
    with pytest.raises(ConfigError, match=message):
        load_study(config, source="test", root=PROJECT_ROOT)
