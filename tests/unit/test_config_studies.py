"""Settings of the replay studies: which families and problems take part, what is refused."""

import copy
from pathlib import Path
from types import MappingProxyType
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
    def load(sections: Any = MappingProxyType({}), **studies: Any) -> Study:
        config = copy.deepcopy(BASE) | {"models_file": "models.yaml"} | dict(sections)
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
        ({"repeats": {"blocks": 1}}, "studies.repeats.blocks = 1"),
        ({"repeats": {"problems": -1}}, "studies.repeats.problems = -1"),
        ({"order": {"families": ["a", "a"]}}, "studies.order.families = ['a', 'a']: names a twice"),
        ({"integrator_swap": {"integrators": {"a": ["b", "b"]}}}, "names b twice"),
        ({"masking": {"cases": {}}}, "studies.masking.cases = {}: wants no message"),
        ({"masking": {"cases": {"indeterminate": 0}}}, "wants no message; give a category"),
        ({"masking": {"cases": {"indeterminate": -1}}}, "cases.indeterminate = -1"),
        ({"protocols": {"families": ["a", "a"]}}, "names a twice"),
        ({"protocols": {"rounds": 0}}, "studies.protocols.rounds = 0"),
        (
            {"evaluators": {"models": ["m", "n"], "submissions": 0, "triplets": 0}},
            "submissions and triplets are both 0",
        ),
        ({"repeat": {}}, "studies.repeat: unknown key; did you mean 'repeats'?"),
    ],
)
def test_refuses(load: Any, studies: dict[str, Any], expected: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(**studies)
    assert expected in str(caught.value)


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
        "protocol sample": stage_digest(study, "protocol_sample"),
        "protocols": stage_digest(study, "protocols", family="a"),
        "audit sample": stage_digest(study, "audit_sample"),
        "audits": stage_digest(study, "audits", family="a"),
    }


def changed(before: Study, after: Study) -> set[str]:
    old, new = digests(before), digests(after)
    return {name for name, digest in old.items() if new[name] != digest}


REPLAYS = {"repeats", "order", "masking"}
REPLAY_SAMPLES = {f"{name} sample" for name in REPLAYS}
MORE: dict[str, Any] = {
    "protocols": {"problems": 5},
    "evaluators": {"models": ["a", "b"], "submissions": 9, "triplets": 3},
}


def test_a_change_concerns_only_the_stages_that_it_shapes(load: Any) -> None:
    def by(**studies: Any) -> set[str]:
        return changed(load(**MORE), load(**MORE | studies))

    assert not by(integrator_swap=None)
    assert by(repeats={"families": ["a"]}) == {"repeats"}
    assert by(repeats={"blocks": 6}) == {"repeats", "masking sample"}
    assert by(order={"blocks": 4}) == {"order"}
    assert by(order={"problems": 10}) == {"order sample", "order"}
    assert by(masking={"families": ["a"], "repetitions": 6}) == {"masking"}
    assert by(protocols={"problems": 6}) == {"protocol sample", "protocols"}
    assert by(protocols={"problems": 5, "rounds": 2}) == {"protocols"}
    sampled = {*REPLAY_SAMPLES, *REPLAYS, "protocol sample", "protocols", "audit sample"}
    assert by(seed=1) == sampled


POOL_CHANGE = {"deliberation", *REPLAY_SAMPLES, "audit sample"}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("recruiter.j2", POOL_CHANGE),
        ("worked_hypothesizer_math.j2", POOL_CHANGE),
        ("integrator.j2", {"deliberation", *REPLAYS, "audit sample"}),
        ("worked_integrator_math.j2", {"deliberation", *REPLAYS, "audit sample", "protocols"}),
        ("evaluator.j2", {"judging", "protocols", "audits"}),
        ("protocol_poll.j2", {"protocols"}),
        ("_temperament.j2", {"protocols"}),
        ("_problem.j2", {*POOL_CHANGE, *REPLAYS, "protocols"}),
        ("hint_math.j2", {*POOL_CHANGE, *REPLAYS, "protocols"}),
        ("_data.j2", {*POOL_CHANGE, *REPLAYS, "protocols", "judging", "audits"}),
        ("of_nobody.j2", set()),
    ],
)
def test_a_template_concerns_only_those_who_are_asked_with_it(
    load: Any, project_root: Path, tmp_path: Path, template: str, expected: set[str]
) -> None:
    own = tmp_path / "prompts"
    own.mkdir()
    before = load({"prompts": {"folder": str(own)}}, **MORE)
    old = digests(before)
    base = project_root / "resources" / "prompts" / template
    (own / template).write_text((base.read_text() if base.exists() else "") + "{# edited #}")
    new = digests(before)
    assert {name for name, digest in old.items() if new[name] != digest} == expected


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("key_idea", POOL_CHANGE),
        ("work", {"deliberation", *REPLAYS, "audit sample", "protocols"}),
        ("review", {"protocols"}),
    ],
)
def test_a_limit_concerns_only_those_who_write_the_field(
    load: Any, field: str, expected: set[str]
) -> None:
    limited = {"prompts": {"field_max_chars": {field: 99}}}
    assert changed(load(**MORE), load(limited, **MORE)) == expected
