"""Settings of the replay studies: which families and problems take part, what is refused."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from dhd.config.load import Study, load_study
from dhd.errors import ConfigError
from dhd.stages.parts import study_parts
from dhd.stages.settings import stage_digest

BASE: dict[str, Any] = {
    "study": "s",
    "families": {name: {"actor": name} for name in ("a", "b", "c")},
    "benchmarks": {
        "own": {"loader": "user", "path": "p.jsonl"},
        "more": {"loader": "user", "path": "q.jsonl"},
    },
    "judging": {"method": "rules"},
    "studies": {
        "repeats": {},
        "order": {},
        "integrator_swap": {"integrators": {"a": ["b", "c"]}},
        "masking": {"families": ["a"]},
    },
}


@pytest.fixture(autouse=True)
def _models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    models = {name: {"engine": "scripted", "name": name} for name in ("a", "b", "c")}
    (tmp_path / "models.yaml").write_text(yaml.safe_dump({"models": models}))


@pytest.fixture
def load(project_root: Path) -> Any:
    def load(**studies: Any) -> Study:
        config = copy.deepcopy(BASE) | {"models_file": "models.yaml"}
        config["studies"] |= studies
        return load_study(config, source="my.yaml", root=project_root)

    return load


def test_the_defaults_are_the_papers(load: Any) -> None:
    studies = load().settings.studies
    assert (studies.repeats.problems, studies.repeats.blocks) == (200, 5)
    assert (studies.order.problems, studies.order.blocks) == (20, 3)
    assert (studies.integrator_swap.problems, studies.integrator_swap.blocks) == (20, 3)
    assert sum(studies.masking.cases.values()) == 22
    assert studies.masking.repetitions == 5


def test_pairs_of_pool_and_integrator(load: Any) -> None:
    settings = load().settings
    assert settings.replay_pairs("repeats") == (("a", "a"), ("b", "b"), ("c", "c"))
    assert settings.replay_pairs("integrator_swap") == (("a", "b"), ("a", "c"))
    assert settings.replay_pairs("masking") == (("a", "a"),)


def test_families_that_a_study_does_not_name_are_those_of_the_repeats(load: Any) -> None:
    settings = load(repeats={"families": ["a", "b"]}).settings
    assert settings.replay_pairs("order") == (("a", "a"), ("b", "b"))


def test_parts_name_what_their_results_need(load: Any) -> None:
    parts = study_parts(load(order=None))
    assert parts == {
        "scan": ("scan",),
        "repeats": ("scan", "repeats"),
        "integrator_swap": ("scan", "repeats", "integrator_swap"),
        "masking": ("scan", "repeats", "masking"),
    }


@pytest.mark.parametrize(
    ("studies", "expected"),
    [
        ({"repeats": None}, "studies.order: needs studies.repeats"),
        ({"order": {"problems": 201}}, "studies.order.problems = 201: more than the 200"),
        ({"masking": {"families": ["x"]}}, "studies.masking.families: 'x' is no family"),
        ({"repeats": {"families": ["b"]}}, "family 'a' is not in studies.repeats.families"),
        ({"integrator_swap": {"integrators": {"a": ["a"]}}}, "integrates its own pools"),
        ({"integrator_swap": {"integrators": {"a": ["z"]}}}, "'z' is no family"),
        ({"repeats": {"stratified": ["nowhere"]}}, "no benchmark 'nowhere'; has own, more"),
        ({"masking": {"cases": {"wrong": 1}}}, "studies.masking.cases.wrong"),
        ({"repeats": {"blocks": 0}}, "studies.repeats.blocks = 0"),
        ({"repeat": {}}, "studies.repeat: unknown key; did you mean 'repeats'?"),
    ],
)
def test_refuses(load: Any, studies: dict[str, Any], expected: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(**studies)
    assert expected in str(caught.value)


def test_a_change_concerns_only_the_stages_that_it_shapes(load: Any) -> None:
    def digests(study: Study) -> dict[str, str]:
        sample = {"family": "a", "benchmark": "own"}
        return {
            "deliberation": stage_digest(study, "deliberation", family="a"),
            "judging": stage_digest(study, "judging"),
            "repeats sample": stage_digest(study, "samples", replay="repeats", **sample),
            "order sample": stage_digest(study, "samples", replay="order", **sample),
            "masking sample": stage_digest(study, "samples", family="a", replay="masking"),
            "repeats": stage_digest(study, "replays", family="a", replay="repeats"),
            "order": stage_digest(study, "replays", family="a", replay="order"),
            "masking": stage_digest(study, "replays", family="a", replay="masking"),
        }

    def changed(**studies: Any) -> set[str]:
        before, after = digests(load()), digests(load(**studies))
        return {name for name, digest in before.items() if after[name] != digest}

    assert not changed(integrator_swap=None)
    assert changed(repeats={"blocks": 6}) == {"repeats", "masking sample"}
    assert changed(order={"blocks": 4}) == {"order"}
    assert changed(order={"problems": 10}) == {"order sample", "order"}
    assert changed(masking={"families": ["a"], "repetitions": 6}) == {"masking"}
    assert changed(seed=1) == {
        "repeats sample",
        "order sample",
        "masking sample",
        "repeats",
        "order",
        "masking",
    }
