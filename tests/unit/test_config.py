"""Settings: what is refused, and that errors say what would be right."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from dhd.config.load import load_study, load_study_file
from dhd.errors import ConfigError

BASE: dict[str, Any] = {
    "study": "s",
    "families": {"a": {"actor": "m1"}},
    "benchmarks": {"own": {"loader": "user", "path": "p.jsonl"}},
    "judging": {"method": "rules"},
}
MODELS = {
    "models": {
        "m1": {"engine": "scripted", "name": "one"},
        "m2": {"engine": "scripted", "name": "two"},
        "twin": {"engine": "scripted", "name": "one", "max_in_flight": 8},
        "far": {"engine": "openai", "base_url": "https://x.example/v1", "name": "n"},
    }
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "models.yaml").write_text(yaml.safe_dump(MODELS))
    return tmp_path


def changed(**sections: Any) -> dict[str, Any]:
    return copy.deepcopy(BASE) | sections


def message(config: dict[str, Any], root: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        load_study(config, source="my.yaml", root=root)
    return str(caught.value)


def test_accepts_the_least_that_a_study_needs(root: Path) -> None:
    study = load_study(BASE, source="my.yaml", root=root)
    assert study.actor("a").identity().name == "one"
    assert study.evaluator() is None


@pytest.mark.parametrize("name", ["config.yaml", "paper.yaml", "real.yaml"])
def test_the_projects_own_configs_are_valid(project_root: Path, name: str) -> None:
    path = project_root / "config" / name
    study = load_study_file(path, root=project_root)
    assert study.settings.study == {"config.yaml": "demo"}.get(name, path.stem)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (changed(sede=3), r"sede: unknown key; did you mean 'seed'?"),
        (changed(judging={"method": "rules", "evalator": "m2"}), "did you mean 'evaluator'?"),
        (
            changed(families={"a": {"actor": "m1", "colour": 1}}),
            "families.a.colour: unknown key; known keys here: actor",
        ),
        (changed(shards={"problems": 0}), "shards.problems = 0: Input should be greater than 0"),
        (
            changed(shards={"problems": "8"}),
            "shards.problems = '8': Input should be a valid integer",
        ),
        (changed(study="My Study/../x"), "study = 'My Study/../x'"),
        (changed(families={}), "families = {}"),
        (changed(families={"../a": {"actor": "m1"}}), "families.../a"),
        (changed(families={"a": {"actor": "m9"}}), "families.a.actor = 'm9': no such model"),
        (changed(judging={"method": "llm"}), "method 'llm' needs 'evaluator'"),
        (changed(judging={"method": "rules", "evaluator": "m2"}), "method 'rules' asks no model"),
        (changed(judging={"method": "guess"}), "judging.method = 'guess'"),
        (
            changed(judging={"method": "llm", "evaluator": "m1"}),
            "is the actor of family 'a'; choose another model, or add it to judging.shared_with",
        ),
        (
            changed(judging={"method": "llm", "evaluator": "twin"}),
            "is the actor of family 'a'",
        ),
        (
            changed(families={"a": {"actor": "m1"}, "b": {"actor": "twin"}}),
            "families.b.actor: the same model as families.a.actor",
        ),
        (
            changed(judging={"method": "llm", "evaluator": "m2", "shared_with": ["z"]}),
            "judging.shared_with = 'z': no such family",
        ),
        ({k: v for k, v in BASE.items() if k != "judging"}, "judging: missing, needs a value"),
    ],
)
def test_refuses_faulty_settings(root: Path, config: dict[str, Any], expected: str) -> None:
    text = message(config, root)
    assert text.startswith("my.yaml: ")
    assert expected in text


def test_lists_all_faults_at_once(root: Path) -> None:
    text = message(changed(sede=3, shards={"problems": 0}), root)
    assert "2 setting(s) to mend" in text


def test_a_shared_model_is_accepted_when_declared(root: Path) -> None:
    judging = {"method": "llm", "evaluator": "m1", "shared_with": ["a"]}
    study = load_study(changed(judging=judging), source="my.yaml", root=root)
    assert study.evaluator() == study.actor("a")


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        ({"models": {"m1": {"engine": "scripted", "nane": "x"}}}, "m1.nane: unknown key"),
        ({"models": {"m1": {"engine": "vlm"}}}, "models.m1"),
        ({"models": {"m1": {"engine": "openai", "base_url": "ftp://x", "name": "n"}}}, "base_url"),
        ({"models": {"../m": {"engine": "scripted"}}}, "models.../m"),
    ],
)
def test_refuses_faulty_models(root: Path, models: dict[str, Any], expected: str) -> None:
    path = Path("config/models.yaml")
    path.write_text(yaml.safe_dump(models))
    text = message(BASE, root)
    assert str(path) in text
    assert expected in text


def test_a_missing_models_file_is_named(root: Path) -> None:
    assert "nowhere.yaml: cannot be read" in message(changed(models_file="nowhere.yaml"), root)


def test_broken_yaml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("study: [")
    with pytest.raises(ConfigError, match=r"c\.yaml: not valid YAML"):
        load_study_file(path, root=tmp_path)
