"""Site files, the rules of queues, and what bundles ask of the scheduler."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from dhd.config.models import OpenAIModel, ScriptedModel, VllmModel
from dhd.config.reading import read_settings
from dhd.errors import ConfigError
from dhd.sites import JobSize, Machine, cpu_job, engine_job, engines, prologue, read_site
from dhd.sites.check import idle_gpus, memory_faults, model_faults, queue_faults
from dhd.sites.load import site_file
from support.sites import site_of, write_site


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"account": "CHANGE_ME"}, "account = 'CHANGE_ME': still has the placeholder"),
        ({"setup": ["source /home/CHANGE_ME/env"]}, "placeholder 'CHANGE_ME'"),
        ({"environment": {"HF_HOME": "/x/CHANGE_ME"}}, "HF_HOME still has a placeholder"),
        ({"environment": {"DHD_API_KEY": "k"}}, "DHD_API_KEY looks like a secret"),
        ({"environment": {"A B": "k"}}, "'A B' is no name of a variable"),
        ({"walltime": 21600}, 'write it as "HH:MM:SS", in quotes'),
        ({"walltime": "6h"}, 'write it as "HH:MM:SS", in quotes'),
        ({"queue": "preemptible"}, "did you mean 'preemptable'?"),
        ({"cpu": {"queue": "debugg"}}, "cpu.queue = 'debugg': Polaris has debug, debug-scaling"),
        ({"account": None}, "account: PBS needs the project that pays"),
        ({"account": "my project; rm -rf"}, "one word of letters"),
        ({"launcher": None}, "jobs of several nodes need 'launcher'"),
        ({"launcher": "mpiexec -n 4"}, "say with {nodes}"),
        ({"gpus": 4}, "single GPUs are given on one node only"),
        ({"gpus": 4, "nodes": 1}, "queue 'preemptable' gives whole nodes; remove the key"),
        ({"wall_time": "01:00:00"}, "wall_time: unknown key; did you mean 'walltime'?"),
        ({"scheduler": "lsf"}, "scheduler = 'lsf'"),
        ({"account": "Über"}, "one word of letters"),
        ({"walltime": "00:00:59"}, "schedulers count minutes; give it one at least"),
        ({"walltime": "-1:00:00"}, 'write it as "HH:MM:SS", in quotes'),
        ({"filesystems": None}, "filesystems: Polaris's jobs have to name those that they need"),
        ({"nodes": 0}, "nodes = 0: Input should be greater than 0"),
        ({"nodes": "4 nodes"}, "nodes = '4 nodes'"),
        ({"gpus_per_node": 8}, "gpus_per_node = 8: a node of Polaris has 4"),
        ({"gpu_memory_gb": 80}, "gpu_memory_gb = 80: GPUs of queue 'preemptable' have 40"),
        ({"gpu_memory_gb": "40GB"}, "gpu_memory_gb = '40GB'"),
        ({"gres": "gpu:4"}, "gres: has no effect on pbs; remove it"),
        ({"memory_gb": 200}, "memory_gb: has no effect on pbs; remove it"),
        ({"setup": "module load conda"}, "setup = 'module load conda'"),
        ({"cpu": {"queue": "debug", "time": "01:00:00"}}, "cpu.time: unknown key"),
        ({"scheduler": "slurm", "filesystems": "home"}, "filesystems: has no effect on slurm"),
        ({"scheduler": "slurm", "filesystems": None, "gres": "gpu"}, "write it as gpu:COUNT"),
        (
            {"scheduler": "slurm", "filesystems": None, "gres": "gpu:a100:2"},
            "gres = 'gpu:a100:2': asks for 2 GPU(s) of a node, while engines are planned for 4",
        ),
    ],
)
def test_faulty_site_files_say_what_would_be_right(
    tmp_path: Path, project_root: Path, changes: dict[str, Any], expected: str
) -> None:
    path = write_site(tmp_path, "polaris", project_root, **changes)
    with pytest.raises(ConfigError) as caught:
        read_site(path, project_root)
    assert expected in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("machine", ["polaris", "sophia"])
def test_site_files_of_the_profiles_want_an_account_and_nothing_else(
    tmp_path: Path, project_root: Path, machine: str
) -> None:
    with pytest.raises(ConfigError, match=r"1 setting\(s\) to mend:\n  account = 'CHANGE_ME'"):
        read_site(f"profiles/{machine}/site.yaml", project_root)
    given = yaml.safe_load((project_root / "profiles" / machine / "site.yaml").read_text())
    site = site_of(tmp_path, project_root, machine, **{"launcher": None, **given, "account": "a"})
    assert site.launch_command(3)[:3] == ["mpiexec", "-n", "3"]
    assert site.launch_command(1) == []


@pytest.mark.parametrize("machine", ["polaris", "sophia"])
def test_queue_rules_say_where_and_when_they_were_read(project_root: Path, machine: str) -> None:
    rules = read_settings(Machine, project_root / "profiles" / machine / "queues.yaml")
    assert rules.source.startswith("docs.alcf.anl.gov")
    assert rules.checked >= date(2026, 1, 1)


# Polaris's and Sophia's published rules: size and hours that are taken, or what is said.
@pytest.mark.parametrize(
    ("machine", "queue", "size", "walltime", "expected"),
    [
        ("polaris", "debug", 2, "01:00:00", None),
        ("polaris", "debug", 3, "01:00:00", "takes 1 to 2 nodes, not 3"),
        ("polaris", "debug", 1, "01:00:01", None),  # counted in minutes
        ("polaris", "debug", 1, "02:00:00", "for at most 01:00:00, not 02:00:00"),
        ("polaris", "preemptable", 10, "72:00:00", None),
        ("polaris", "preemptable", 11, "72:00:00", "takes 1 to 10 nodes, not 11"),
        ("polaris", "preemptable", 1, "00:04:00", "of at least 00:05:00, not 00:04:00"),
        ("polaris", "prod", 9, "01:00:00", "takes 10 to 496 nodes, not 9"),
        ("polaris", "prod", 24, "03:00:00", None),
        ("polaris", "prod", 24, "04:00:00", "06:00:00 from 25 nodes on; 24:00:00 from 100"),
        ("polaris", "prod", 99, "06:00:00", None),
        ("polaris", "prod", 496, "24:00:00", None),
        ("polaris", "prod", 497, "24:00:00", "takes 10 to 496 nodes, not 497"),
        ("sophia", "by-gpu", 8, "12:00:00", None),
        ("sophia", "by-gpu", 3, "12:00:00", "takes 1, 2, 4 or 8 gpus, not 3"),
        ("sophia", "by-node", 8, "12:00:00", None),
        ("sophia", "by-node", 9, "12:00:00", "takes 1 to 8 nodes, not 9"),
        ("sophia", "bigmem", 2, "12:00:00", "takes 1 node, not 2"),
    ],
)
def test_queue_rules(
    project_root: Path, machine: str, queue: str, size: int, walltime: str, expected: str | None
) -> None:
    rules = read_settings(Machine, project_root / "profiles" / machine / "queues.yaml")
    faults = list(rules.queues[queue].faults(size, walltime))
    assert len(faults) == (expected is not None)
    assert expected is None or expected in faults[0]


@pytest.mark.parametrize(
    ("shards", "per_node", "nodes"),
    [(32, 8, 4), (31, 8, 4), (24, 8, 3), (1, 8, 1), (100, 8, 4)],
)
def test_a_bundle_asks_for_the_nodes_that_its_shards_need(
    tmp_path: Path, project_root: Path, shards: int, per_node: int, nodes: int
) -> None:
    job = engine_job(site_of(tmp_path, project_root), shards, per_node)
    assert job == JobSize("preemptable", nodes, nodes, "06:00:00")


def test_a_small_bundle_keeps_the_least_nodes_of_its_queue_and_walltime(
    tmp_path: Path, project_root: Path
) -> None:
    site = site_of(tmp_path, project_root, queue="prod", nodes=30, walltime="03:00:00")
    assert engine_job(site, 1, 8).nodes == 10
    assert engine_job(site, 12 * 8, 8).nodes == 12
    longer = site_of(tmp_path, project_root, queue="prod", nodes=30, walltime="06:00:00")
    assert engine_job(longer, 1, 8).nodes == 25


def test_jobs_without_engines_take_one_node_of_their_own_queue(
    tmp_path: Path, project_root: Path
) -> None:
    cpu = {"queue": "debug", "walltime": "00:30:00"}
    assert cpu_job(site_of(tmp_path, project_root, cpu=cpu)) == JobSize("debug", 1, 1, "00:30:00")
    assert cpu_job(site_of(tmp_path, project_root)).queue == "preemptable"


def test_single_gpus_are_one_node_and_counted_as_gpus(tmp_path: Path, project_root: Path) -> None:
    site = site_of(
        tmp_path, project_root, "sophia", queue="by-gpu", nodes=1, gpus=4, gpus_per_node=8
    )
    assert engine_job(site, 100, 8) == JobSize("by-gpu", 1, 4, "06:00:00")
    assert cpu_job(site).select == 1
    assert site.gpus_of_node == 4


def vllm(**settings: Any) -> VllmModel:
    return VllmModel(engine="vllm", path="some/model", max_model_len=4096, **settings)


@pytest.mark.parametrize(
    ("gpus_per_node", "parallel", "expected"), [(4, 4, 1), (8, 4, 2), (8, 2, 4), (4, 8, 1)]
)
def test_engines_of_a_node(
    tmp_path: Path, project_root: Path, gpus_per_node: int, parallel: int, expected: int
) -> None:
    machine = "polaris" if gpus_per_node == 4 else "sophia"
    queue = {"polaris": "preemptable", "sophia": "by-node"}[machine]
    site = site_of(tmp_path, project_root, machine, queue=queue, gpus_per_node=gpus_per_node)
    assert engines(vllm(tensor_parallel_size=parallel), site) == expected
    assert engines(vllm(tensor_parallel_size=parallel), None) == 1


def test_models_without_an_engine_in_the_job(tmp_path: Path, project_root: Path) -> None:
    site = site_of(tmp_path, project_root)
    endpoint = OpenAIModel(engine="openai", base_url="http://x/v1", name="m")
    assert engines(endpoint, site) == 0
    assert engines(None, site) == 0
    assert engines(ScriptedModel(engine="scripted"), site) == 0
    assert engines(ScriptedModel(engine="scripted", engines_per_node=2), site) == 2


def test_engines_that_do_not_fit_a_node_are_faults_and_idle_gpus_warnings(
    tmp_path: Path, project_root: Path
) -> None:
    site = site_of(tmp_path, project_root)
    models = {
        "large": vllm(tensor_parallel_size=8),
        "many": vllm(tensor_parallel_size=2, engines_per_node=3),
        "few": vllm(tensor_parallel_size=2, engines_per_node=1),
        "right": vllm(tensor_parallel_size=2),
    }
    large, many = model_faults(site, models)
    assert large == (
        "models.large.tensor_parallel_size = 8: a job has 4 GPU(s) of a node; set it to 4 or "
        "less, or take a queue with more GPUs a node"
    )
    assert many == (
        "models.many.engines_per_node = 3: with tensor_parallel_size 2 they need 6 GPUs, a node "
        "has 4; at most 2 fit, or leave the key out"
    )
    idle = list(idle_gpus(site, {name: models[name] for name in ("few", "right")}))
    assert idle == ["models.few: uses 2 of a node's 4 GPUs (1 engine(s) of 2)"]


def test_weights_must_leave_room_for_requests(tmp_path: Path, project_root: Path) -> None:
    models = {"m": vllm(tensor_parallel_size=4)}
    small = site_of(tmp_path, project_root)
    # gpt-oss-120b has 63 GB, Llama-3.1-70B 141 GB in bf16: 82 % of four times 40 GiB.
    assert not list(memory_faults(small, models, {"m": 63 * 10**9}))
    (fault,) = memory_faults(small, models, {"m": 141 * 10**9})
    assert fault == (
        "models.m.tensor_parallel_size = 4: weights of 141 GB leave no room for requests in "
        "92% of so many GPUs of 40 GB; 8 would do, or GPUs with more memory"
    )
    large = site_of(
        tmp_path, project_root, "sophia", queue="bigmem", nodes=1, gpus_per_node=8, gpu_memory_gb=80
    )
    assert not list(memory_faults(large, models, {"m": 141 * 10**9}))


def test_weights_must_fit_the_share_of_the_memory_that_an_engine_may_take(
    tmp_path: Path, project_root: Path
) -> None:
    """63 GB on four GPUs of 40 GiB: 0.87 of the share is 134, 75 and 45 GB."""
    site = site_of(tmp_path, project_root)
    for share, fits in ((0.9, True), (0.5, True), (0.3, False)):
        model = vllm(tensor_parallel_size=4, engine_args={"gpu_memory_utilization": share})
        faults = list(memory_faults(site, {"m": model}, {"m": 63 * 10**9}))
        assert (faults == []) == fits
    assert "in 30% of so many GPUs of 40 GB; 8 would do" in faults[0]


def test_broken_rules_name_the_queue_and_what_would_fit(tmp_path: Path, project_root: Path) -> None:
    site = site_of(tmp_path, project_root, queue="debug", nodes=10, walltime="01:00:00")
    (fault,) = queue_faults(site, [engine_job(site, 100, 8)], jobs=20)
    assert fault.startswith("Polaris's queue 'debug' takes 1 to 2 nodes, not 10; ")
    assert "debug-scaling and preemptable and demand and prod would take it" in fault


def test_more_submitted_jobs_than_the_queue_takes_are_a_fault(
    tmp_path: Path, project_root: Path
) -> None:
    site = site_of(tmp_path, project_root, queue="debug-scaling", walltime="01:00:00")
    size = engine_job(site, 8, 8)
    (fault,) = queue_faults(site, [size, size], jobs=20)
    assert "takes 1 job(s) of a user, queued and running, not 20; run with --jobs 1" in fault
    assert not list(queue_faults(site, [size], jobs=1))
    assert not list(queue_faults(site, [size], jobs=None))


def test_a_machine_without_stated_rules_takes_everything(
    tmp_path: Path, project_root: Path
) -> None:
    site = read_site(write_site(tmp_path, None, project_root, nodes=4000), project_root)
    assert not list(queue_faults(site, [engine_job(site, 10**6, 8)], jobs=10**4))


def test_the_prologue_sets_umask_start_variables_and_runs_the_setup(
    tmp_path: Path, project_root: Path
) -> None:
    site = site_of(
        tmp_path,
        project_root,
        setup=["module load conda", "conda activate"],
        environment={"HF_HOME": "/models of mine/$x"},
    )
    umask, *lines = prologue(site).splitlines()
    assert umask.startswith("umask 0")
    assert lines == [
        "export DHD_JOB_START=$(date +%s)",
        "export HF_HOME='/models of mine/$x'",
        "module load conda",
        "conda activate",
    ]


@pytest.mark.parametrize(
    ("defaults", "expected"),
    [
        (
            ["tmpdir=system_tmpdir", "site='profiles/polaris/site.yaml'"],
            "profiles/polaris/site.yaml",
        ),
        (["site=x.yaml"], "x.yaml"),
        (["tmpdir=system_tmpdir"], None),
    ],
)
def test_the_profile_names_the_site_file(defaults: list[str], expected: str | None) -> None:
    assert site_file(defaults) == expected
