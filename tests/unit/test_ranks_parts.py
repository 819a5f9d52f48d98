"""Parts of jobs of several engines that need no second process."""

from __future__ import annotations

import os
import re
import socket
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter

from dhd.config.load import load_study
from dhd.config.models import OpenAIModel, ScriptedModel, SimulatedModel, VllmModel
from dhd.config.study import JournalSettings
from dhd.engines.placement import engines_of_job, engines_on_node, slot_environment, visible_gpus
from dhd.errors import EngineError, RecordsError
from dhd.judging import Submission
from dhd.layout import StudyPaths
from dhd.ranks import node
from dhd.ranks.launch import Launch
from dhd.ranks.node_plan import NodePlan
from dhd.ranks.run_folder import RunFolder
from dhd.ranks.worker_job import WorkerJob
from dhd.stages.audits import AuditJob
from dhd.stages.bundle_job import Allocation
from dhd.stages.deliberate import DeliberationJob
from dhd.stages.judge import JudgingJob
from dhd.stages.prepare import prepare_problems, read_problems
from dhd.stages.protocols import ProtocolJob
from dhd.stages.replays import ReplayJob
from dhd.stages.specs import AnySpec
from support.studies import PROJECT_ROOT, SCRIPTED

PAPER = yaml.safe_load((PROJECT_ROOT / "config" / "paper.yaml").read_text())
SITE = {
    "scheduler": "slurm",
    "queue": "gpu",
    "nodes": 2,
    "walltime": "01:00:00",
    "gpus_per_node": 4,
    "gpu_memory_gb": 40,
    "launcher": "srun --nodes={nodes}",
}


def vllm(**settings: Any) -> VllmModel:
    return VllmModel(engine="vllm", path="org/model", max_model_len=100, **settings)


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "run", workers=4)
    for name in ("finished", "ranks", "ended"):
        (folder.path / name).mkdir(parents=True)
    folder.beat()
    return folder


@pytest.mark.parametrize(
    ("model", "gpus", "expected"),
    [
        (vllm(tensor_parallel_size=4), 4, 1),
        (vllm(tensor_parallel_size=4), 8, 2),
        (vllm(tensor_parallel_size=2), 8, 4),
        (vllm(tensor_parallel_size=8), 4, 1),
        (vllm(tensor_parallel_size=2, engines_per_node=1), 8, 1),
        (vllm(tensor_parallel_size=4), 0, 1),
        (ScriptedModel(engine="scripted"), 4, 0),
        (ScriptedModel(engine="scripted", engines_per_node=3), 0, 3),
        (SimulatedModel(engine="simulated"), 4, 0),
        (OpenAIModel(engine="openai", base_url="https://h/v1", name="m"), 4, 0),
    ],
)
def test_a_node_holds_as_many_engines_as_its_gpus(model: Any, gpus: int, expected: int) -> None:
    assert engines_on_node(model, gpus) == expected


def test_a_job_that_asks_two_models_starts_as_many_engines_as_the_larger_allows() -> None:
    endpoint = OpenAIModel(engine="openai", base_url="https://h/v1", name="m")
    large, small = vllm(tensor_parallel_size=4), vllm(tensor_parallel_size=2)
    assert engines_of_job([small, large, endpoint], 8) == 2
    assert engines_of_job([endpoint], 8) == 0


def test_engines_of_a_node_share_the_gpus_that_the_scheduler_gave(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-a,GPU-b,6,7")
    gpus = visible_gpus()
    shares = [slot_environment(gpus, slot, 2) for slot in range(2)]
    assert [one["CUDA_VISIBLE_DEVICES"] for one in shares] == ["GPU-a,GPU-b", "6,7"]
    assert shares[0]["VLLM_PORT"] != shares[1]["VLLM_PORT"]
    with pytest.raises(EngineError, match="5 engines for 4 GPU"):
        slot_environment(gpus, 0, 5)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ("GPU-1a2b-3c", ("GPU-1a2b-3c",)),
        ("GPU-1a, MIG-77", ("GPU-1a", "MIG-77")),
        ("GPU-99,GPU-98", ("0", "1")),
        ("2,3", ("2", "3")),
    ],
)
def test_gpus_that_another_nodes_scheduler_chose_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str, expected: tuple[str, ...]
) -> None:
    listing = (
        "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1a2b-3c)\n"
        "  MIG 1g.5gb Device 0: (UUID: MIG-77-8)\n"
        "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-4d5e-6f)\n"
    )
    (tmp_path / "listing").write_text(listing)
    program = tmp_path / "nvidia-smi"
    program.write_text(f'#!/bin/sh\n[ "$1" = -L ] && exec cat {tmp_path}/listing\necho 0; echo 1\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", chosen)
    assert visible_gpus() == expected
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-1a,GPU-99")
    with pytest.raises(EngineError, match="this node has no GPU-99"):
        visible_gpus()


def node_says(run: RunFolder, plan: NodePlan, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Run a rank in this process; return what it leaves for the leader."""
    plan.write(run)
    monkeypatch.setattr("sys.argv", ["node", str(run.path)])
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert node.main() == 0
    return run.bad_ends()


def test_a_rank_whose_logs_cannot_be_opened_says_so_and_exits_with_0(
    run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = NodePlan(str(tmp_path), 2, [], 60.0, 180.0, str(tmp_path / "gone" / "0003.log"))
    ends = node_says(run, plan, monkeypatch)
    assert len(ends) == 2
    assert all("could not be started: [Errno 2]" in end for end in ends)


def test_a_rank_that_cannot_work_at_all_says_so_and_exits_with_0(
    run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = NodePlan(str(tmp_path / "gone"), 2, [], 60.0, 180.0, "")
    (end,) = node_says(run, plan, monkeypatch)
    assert f"the rank on {socket.gethostname()} failed: FileNotFoundError" in end


def test_without_gpus_nothing_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert visible_gpus() == ()
    assert "CUDA_VISIBLE_DEVICES" not in slot_environment((), 1, 2)


def test_ranks_number_themselves(run: RunFolder) -> None:
    assert [run.claim_rank() for _ in range(3)] == [0, 1, 2]


def test_finished_shards_are_seen_by_all(run: RunFolder) -> None:
    other = RunFolder(run.path)
    assert not other.finished()
    run.finish("00000-00015")
    assert other.has_finished("00000-00015")
    assert RunFolder(run.path).finished() == {"00000-00015"}


def test_ranks_stop_when_told_or_when_nobody_leads(run: RunFolder) -> None:
    assert not run.must_stop(60)
    time.sleep(0.05)
    assert run.must_stop(0.04)
    run.beat()
    assert not run.must_stop(60)
    run.stop()
    assert run.must_stop(60)
    assert RunFolder(run.path / "removed").must_stop(60)


def test_folders_of_dead_leaders_go_and_those_of_live_ones_stay(tmp_path: Path) -> None:
    parent = tmp_path / "runs"
    with RunFolder.new(parent, 2, 60) as live:
        dead = RunFolder(parent / "dead")
        dead.path.mkdir()
        dead.beat()
        for path in (dead.path / "leader", dead.path):
            os.utime(path, (time.time() - 601,) * 2)
        with RunFolder.new(parent, 2, 60) as mine:
            assert live.path.exists()
            assert not dead.path.exists()
        assert not mine.path.exists()
    assert not list(parent.iterdir())


def test_a_plan_survives_its_file(run: RunFolder) -> None:
    plan = NodePlan("/f", 2, ["a.jsonl"], 60.0, 180.0, "logs/x/0003.log")
    plan.write(run)
    assert NodePlan.read(run) == plan
    assert plan.worker_log(5) == Path("logs/x/0003.worker-05.log")


@pytest.mark.parametrize(
    "spec",
    [
        DeliberationJob("oss", "jeebench", "0003"),
        JudgingJob("scan", "jeebench", "0000", (Path("a.parquet"),), Path("out.parquet")),
        ReplayJob("order", "oss", "gemma", "jeebench", "0000", Path("m.json"), (Path("p"),)),
        ProtocolJob("oss", "jeebench", "0000", Path("m.json"), Path("out.parquet"), 3),
        AuditJob("gpt-oss-120b", "jeebench", Path("m.json"), Path("out.parquet")),
    ],
)
def test_a_workers_job_survives_its_file(
    run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: AnySpec
) -> None:
    monkeypatch.setenv("DHD_API_KEY", "sk-secret")
    (tmp_path / "site.yaml").write_text(yaml.safe_dump(SITE))
    study = load_study(PAPER, source="x", root=PROJECT_ROOT, site=str(tmp_path / "site.yaml"))
    job = WorkerJob(study, spec, Allocation(2, 1e9, "digest", Path("l.log")), 2)
    job.write(run, b"handed over")
    assert WorkerJob.read(run) == (job, b"handed over")
    assert "sk-secret" not in (run.path / "job.json").read_text()


def launch(run: RunFolder, *launcher: str) -> tuple[Launch, list[str]]:
    said: list[str] = []
    return Launch(launcher, run, 2, said.append), said


def test_a_launcher_that_is_not_there_is_named(run: RunFolder) -> None:
    started, _ = launch(run, "no-such-launcher", "-n", "2")
    with pytest.raises(EngineError, match="'launcher' in the site file"):
        started.wait(JournalSettings(), None)


def test_a_launcher_that_fails_leaves_the_job_incomplete(run: RunFolder) -> None:
    started, said = launch(run, "sh", "-c", "exit 7")
    run.finish("a")
    run.note_end("0001", "worker 1 on x3 was killed by SIGKILL")
    started.wait(JournalSettings(), None)
    assert started.finished == {"a"}
    assert re.search(r"exit code 7 with 1 of 2 .*worker 1 on x3", str(started.unfinished()))
    assert said == ["worker 1 on x3 was killed by SIGKILL"]


def test_ranks_that_outstay_the_walltime_are_killed(run: RunFolder) -> None:
    started, _ = launch(run, "sh", "-c", "trap '' TERM; sleep 60")
    settings = JournalSettings(walltime_margin_s=1.0)
    begun = time.monotonic()
    started.wait(settings, time.time() + 0.2)
    assert time.monotonic() - begun < 30
    assert run.is_stopped
    assert "0 of 2" in str(started.unfinished())


def test_ranks_that_hang_after_the_last_shard_do_not_spoil_it(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dhd.ranks.launch._CLOSE_S", 0.5)
    started, _ = launch(run, "sh", "-c", f"sleep 1.5; touch {run.path}/finished/a; sleep 60")
    run.finish("b")
    started.wait(JournalSettings(), None)
    assert started.finished == {"a", "b"}


def test_workers_are_handed_what_rules_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    judging = {"method": "rules_then_llm", "evaluator": "scripted-judge"}
    study = load_study(SCRIPTED | {"judging": judging}, source="x", root=PROJECT_ROOT)
    source = study.resolve(str(study.settings.benchmarks["marbles"].path))
    prepare_problems(study, "marbles", source, StudyPaths.of("scripted").problems("marbles"))
    problems = read_problems(StudyPaths.of("scripted").problems("marbles"))
    left = [Submission(problems[n].problem_uid, "odd") for n in (0, 5)]
    job = JudgingJob("scan", "marbles", "0000", (Path("missing.parquet"),), Path("out.parquet"))
    prepared = job.prepare(study, TypeAdapter(list[Submission]).dump_json(left))
    assert [(one.name, one.expected) for one in prepared.work] == [
        ("00000-00003", 1),
        ("00004-00007", 1),
    ]
    with pytest.raises(RecordsError, match=r"missing\.parquet"):
        job.prepare(study)
