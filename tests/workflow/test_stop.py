"""SIGTERM and Ctrl-C end a run on one machine with what is in flight, and say that it stopped."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from support.studies import PROJECT_ROOT, write_config, write_problems

MODEL = {"engine": "scripted", "max_in_flight": 4, "latency_s": 0.5}
LAST = "all finished requests are in the journal; run the same command again"


@pytest.fixture
def running(tmp_path: Path) -> subprocess.Popen[str]:
    """Return a Snakemake, in a group of its own, whose first job has finished requests."""
    write_problems(tmp_path / "problems.jsonl", 400)
    (tmp_path / "models.yaml").write_text(yaml.safe_dump({"models": {"m": MODEL}}))
    config = write_config(
        tmp_path,
        models_file=str(tmp_path / "models.yaml"),
        families={"alpha": {"actor": "m"}},
        benchmarks={"sums": {"loader": "user", "path": str(tmp_path / "problems.jsonl")}},
        judging={"method": "rules"},
    )
    command = [
        str(Path(sys.executable).with_name("snakemake")),
        *("--snakefile", str(PROJECT_ROOT / "Snakefile"), "--directory", str(tmp_path)),
        *("--configfile", str(config), "--cores", "2", "--keep-going"),
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 90
    while not any(one.stat().st_size for one in tmp_path.glob("results/*/journal/**/*.jsonl")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return process


def terminate(process: subprocess.Popen[str]) -> None:
    process.terminate()


def interrupt_all(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGINT)


def interrupt_twice(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGINT)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)


@pytest.mark.workflow
def test_after_a_kill_the_same_command_names_resume(
    running: subprocess.Popen[str], tmp_path: Path
) -> None:
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()

    def again(*options: str) -> tuple[int, str]:
        ran = subprocess.run([*running.args, *options], capture_output=True, text=True)  # type: ignore[misc]
        return ran.returncode, ran.stdout + ran.stderr

    code, output = again()
    assert code == 1
    assert "dhd resume --profile profiles/local" in output
    assert "LockException" not in output
    assert again("-n")[0] == 0
    assert again("--unlock")[0] == 0
    assert not list(tmp_path.glob(".snakemake/locks/*"))
    assert again("-n")[0] == 0


@pytest.mark.workflow
@pytest.mark.parametrize(
    ("stop", "name"),
    [(terminate, "SIGTERM"), (interrupt_all, "SIGINT"), (interrupt_twice, "SIGINT")],
)
def test_a_signal_stops_snakemake_and_its_jobs(
    running: subprocess.Popen[str],
    tmp_path: Path,
    stop: Callable[[subprocess.Popen[str]], None],
    name: str,
) -> None:
    stop(running)
    told = time.monotonic()
    output, _ = running.communicate(timeout=60)
    # A shard of the job alone would take longer: 8 problems x 24 requests, 8 every 0.5 s.
    assert time.monotonic() - told < 20
    assert running.returncode == 1
    assert output.strip().splitlines()[-1] == f"Stopped by {name}: {LAST}"
    assert "Traceback" not in output
    assert "At least one job did not complete" not in output
    assert not list(tmp_path.glob(".snakemake/locks/*"))
