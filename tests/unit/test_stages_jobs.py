"""What the rules ask of a cluster's scheduler, and plans that do not fit."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from dhd.config.load import Study, load_study_file
from dhd.errors import ConfigError, EngineError
from dhd.stages.bundle_job import BundleJob
from dhd.stages.bundles import bundle_size, study_bundles
from dhd.stages.jobs import check_plan, job_resources
from dhd.stages.protocols import turn_models
from dhd.stages.session import job_queues
from dhd.stages.settings import stage_digest
from support.sites import write_site
from support.studies import SCRIPTED, write_problems

VLLM: dict[str, Any] = {
    "engine": "vllm",
    "path": "some/model",
    "max_model_len": 4096,
    "tensor_parallel_size": 4,
}


def study_on(
    folder: Path,
    root: Path,
    *,
    machine: str | None = "polaris",
    model: dict[str, Any] | None = None,
    memory_share: float | None = None,
    site: dict[str, Any] | None = None,
    **sections: Any,
) -> Study:
    """Return a study of 100 problems in 25 shards on a site, or on one machine."""
    write_problems(folder / "problems.jsonl", 100)
    args = {} if memory_share is None else {"gpu_memory_utilization": memory_share}
    models = {
        "m": VLLM | {"engine_args": args} | (model or {}),
        "judge": VLLM | {"path": "judge", "engine_args": args},
        "endpoint": {"engine": "openai", "base_url": "http://localhost/v1", "name": "e"},
    }
    (folder / "models.yaml").write_text(yaml.safe_dump({"models": models}))
    settings = {
        "models_file": str(folder / "models.yaml"),
        "families": {"alpha": {"actor": "m"}},
        "benchmarks": {"sums": {"loader": "user", "path": str(folder / "problems.jsonl")}},
        "judging": {"method": "rules"},
        "shards": {"problems": 4},
        "bundles": {"deliberation_shards": 3, "judging_shards": 10},
    }
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(SCRIPTED | settings | sections))
    where = None if machine is None else write_site(folder, machine, root, **(site or {}))
    return load_study_file(path, root=root, site=where)


def test_bundles_grow_with_the_nodes_of_a_job(tmp_path: Path, project_root: Path) -> None:
    study = study_on(tmp_path, project_root)
    assert bundle_size(study, "deliberation") == 4 * 3
    assert [len(one) for one in study_bundles(study, "sums", "deliberation").values()] == [
        12,
        12,
        1,
    ]
    alone = study_on(tmp_path, project_root, machine=None)
    assert bundle_size(alone, "deliberation") == 3
    digests = {stage_digest(one, "deliberation", family="alpha") for one in (study, alone)}
    assert len(digests) == 2


def test_resources_of_jobs_on_pbs(tmp_path: Path, project_root: Path) -> None:
    study = study_on(
        tmp_path, project_root, site={"cpu": {"queue": "debug", "walltime": "00:30:00"}}
    )
    assert study.site is not None
    with_engines = {
        "engines": 0,
        "site": study.site.file,
        "nodes": 4,
        "select": 4,
        "queue": "preemptable",
        "runtime": 360,
    }
    model = study.actor("alpha")
    assert job_resources(study, "deliberation", [model], 12) == with_engines
    assert job_resources(study, "deliberation", [model], 1) == with_engines | {
        "nodes": 1,
        "select": 1,
    }
    by_rules = job_resources(study, "judging", [], 40)
    assert by_rules == with_engines | {"nodes": 1, "select": 1, "queue": "debug", "runtime": 30}
    # All of a benchmark's shards, so many on a node as judging takes.
    assert job_resources(study, "audits", [model], 25)["nodes"] == 3


@pytest.mark.parametrize("machine", ["polaris", None])
@pytest.mark.parametrize(
    ("actor", "judging", "protocols"),
    [
        ("endpoint", {"method": "llm", "evaluator": "judge"}, {}),
        ("endpoint", {"method": "rules"}, {"hint_writer": "judge"}),
        ("m", {"method": "llm", "evaluator": "endpoint"}, {}),
        ("m", {"method": "llm", "evaluator": "judge"}, {"alternate": False}),
    ],
)
def test_a_job_that_asks_all_models_of_the_protocols_gets_the_gpus_of_any(
    tmp_path: Path,
    project_root: Path,
    machine: str | None,
    actor: str,
    judging: dict[str, Any],
    protocols: dict[str, Any],
) -> None:
    study = study_on(
        tmp_path,
        project_root,
        machine=machine,
        families={"alpha": {"actor": actor}},
        judging=judging,
        studies={"protocols": protocols},
        site={"cpu": {"queue": "debug", "walltime": "00:30:00"}},
        memory_share=0.45,
    )
    alone = job_resources(study, "protocols", [study.models["m"]], 3)
    assert job_resources(study, "protocols", turn_models(study, "alpha", 0), 3) == alone
    assert alone != job_resources(study, "protocols", [study.models["endpoint"]], 3)
    assert check_plan(study) == []


def test_a_turn_gets_the_gpus_of_the_one_model_that_it_asks(
    tmp_path: Path, project_root: Path
) -> None:
    study = study_on(
        tmp_path,
        project_root,
        families={"alpha": {"actor": "endpoint"}},
        judging={"method": "llm", "evaluator": "judge"},
        studies={"protocols": {"alternate": True}},
        site={"cpu": {"queue": "debug", "walltime": "00:30:00"}},
    )
    queues = [
        job_resources(study, "protocols", turn_models(study, "alpha", turn), 3)["queue"]
        for turn in (1, 2, 3, 4)
    ]
    assert queues == ["debug", "preemptable"] * 2


def test_one_machine_counts_engines_instead(tmp_path: Path, project_root: Path) -> None:
    study = study_on(tmp_path, project_root, machine=None)
    assert job_resources(study, "deliberation", [study.actor("alpha")], 12) == {
        "engines": 1,
        "nodes": 1,
    }
    assert job_resources(study, "judging", [], 12) == {"engines": 0, "nodes": 1}
    assert check_plan(study, jobs=1000) == []


def test_a_plan_that_fits_has_no_complaint(tmp_path: Path, project_root: Path) -> None:
    assert check_plan(study_on(tmp_path, project_root), jobs=20) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"site": {"queue": "debug"}}, "queue 'debug' takes 1 to 2 nodes, not 4"),
        ({"site": {"queue": "debug", "nodes": 2}}, "for at most 01:00:00, not 06:00:00"),
        ({"site": {"queue": "prod", "nodes": 10}}, "for at most 03:00:00, not 06:00:00"),
        # Judging by rules takes one node, which prod does not give.
        (
            {"site": {"queue": "prod", "nodes": 10, "walltime": "03:00:00"}},
            "queue 'prod' takes 10 to 496 nodes, not 1; preemptable and capacity",
        ),
        ({"site": {"walltime": "00:04:00"}}, "at least 00:05:00, not 00:04:00"),
        ({"site": {"queue": "capacity"}}, "takes 2 job(s) of a user, queued and running, not 20"),
        ({"model": {"tensor_parallel_size": 8}}, "models.m.tensor_parallel_size = 8"),
        (
            {"model": {"tensor_parallel_size": 2, "engines_per_node": 3}},
            "models.m.engines_per_node = 3",
        ),
        (
            {"journal": {"walltime_margin_s": 7200.0, "longest_request_s": 14400.0}},
            "walltime = '06:00:00': jobs stop asking 21600 s before their end",
        ),
    ],
)
def test_a_plan_that_does_not_fit_says_which_rule_it_breaks(
    tmp_path: Path, project_root: Path, changes: dict[str, Any], expected: str
) -> None:
    study = study_on(tmp_path, project_root, **changes)
    with pytest.raises(ConfigError) as caught:
        check_plan(study, jobs=20)
    assert expected in str(caught.value)
    assert "site.yaml" in str(caught.value)


def test_prod_fits_with_another_queue_for_judging(tmp_path: Path, project_root: Path) -> None:
    site = {"queue": "prod", "nodes": 10, "walltime": "03:00:00", "cpu": {"queue": "preemptable"}}
    assert check_plan(study_on(tmp_path, project_root, site=site), jobs=20) == []


LLM: dict[str, Any] = {"judging": {"method": "llm", "evaluator": "judge"}}


def test_actor_and_evaluator_in_one_job_must_fit_its_gpus_together(
    tmp_path: Path, project_root: Path
) -> None:
    together = LLM | {"studies": {"protocols": {"alternate": False}}}
    with pytest.raises(ConfigError) as caught:
        check_plan(study_on(tmp_path, project_root, **together))
    said = str(caught.value)
    assert "models.m and models.judge are asked by one job and take 0.92 and 0.92 of the" in said
    assert "remove studies.protocols.alternate, so that jobs take turns" in said
    assert "gpu_memory_utilization: 0.47} each" in said


def test_actor_and_evaluator_that_take_turns_need_not_fit_together(
    tmp_path: Path, project_root: Path
) -> None:
    study = study_on(tmp_path, project_root, **LLM, studies={"protocols": {}})
    assert check_plan(study) == []
    assert [len(turn_models(study, "alpha", turn)) for turn in (1, 2)] == [1, 1]


def test_actor_and_evaluator_with_shares_of_the_memory_may_be_in_one_job(
    tmp_path: Path, project_root: Path
) -> None:
    together = LLM | {"studies": {"protocols": {"alternate": False}}}
    assert check_plan(study_on(tmp_path, project_root, memory_share=0.47, **together)) == []
    with pytest.raises(ConfigError, match=r"take 0\.5 and 0\.5 of the memory"):
        check_plan(study_on(tmp_path, project_root, memory_share=0.5, **together))


def test_a_job_on_a_machine_with_gpus_refuses_models_that_do_not_fit_them_together(
    tmp_path: Path, project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = study_on(tmp_path, project_root, machine=None)
    models = {"integrator": study.models["m"], "evaluator": study.models["judge"]}

    def queues(elsewhere: frozenset[str]) -> int:
        job = BundleJob("protocols", "0000", "run", (), models, len, elsewhere=elsewhere)
        return len(job_queues(study, job))

    assert queues(frozenset()) == 2
    monkeypatch.setattr("dhd.stages.session.visible_gpus", lambda: ("0", "1"))
    with pytest.raises(EngineError, match="the integrator and the evaluator are asked by one job"):
        queues(frozenset())
    assert queues(frozenset({"evaluator"})) == 2


def test_idle_gpus_are_a_warning(tmp_path: Path, project_root: Path) -> None:
    study = study_on(
        tmp_path, project_root, model={"tensor_parallel_size": 1, "engines_per_node": 2}
    )
    assert check_plan(study, jobs=20) == ["models.m: uses 2 of a node's 4 GPUs (2 engine(s) of 1)"]
