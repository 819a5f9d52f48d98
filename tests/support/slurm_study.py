"""A project folder of its own with a small scripted study on the real Slurm of the tests."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.project_copy import copy_project, write_yaml
from support.studies import PROJECT_ROOT

SCRIPT = PROJECT_ROOT / "tests" / "support" / "slurm-local.sh"


@contextmanager
def running_slurm(folder: Path, *, accounting: bool) -> Iterator[None]:
    """Run a Slurm of three nodes; skip where that is not possible."""
    programs = ["slurmctld", "slurmd", "munged", *(["slurmdbd", "mariadbd"] if accounting else [])]
    missing = [name for name in programs if shutil.which(name) is None]
    switch = {"ACCOUNTING": str(int(accounting))}
    if missing:
        settings = "ACCOUNTING=1 " if accounting else ""
        pytest.skip(f"no {', '.join(missing)} here: as root, run {settings}{SCRIPT.name} install")
    if os.geteuid() != 0:
        pytest.skip("the Slurm of the tests needs root")
    with (Path(tempfile.gettempdir()) / "dhd-test-slurm.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # its ports are fixed: one at a time on a machine
        command, environment = [SCRIPT, "start", folder], os.environ | switch
        started = subprocess.run(command, env=environment, capture_output=True, text=True)
        try:
            if started.returncode != 0:
                pytest.fail(f"Slurm does not start: {started.stderr}")
            yield
        finally:
            subprocess.run([SCRIPT, "stop", folder], check=True, timeout=60)


@dataclass(frozen=True)
class SlurmStudy:
    """A project folder on a login node of the tests' cluster."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of a login node."""
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        source = str(PROJECT_ROOT / "src")
        return os.environ | {"PATH": path, "PYTHONPATH": source, "DHD_SENTINEL_API_KEY": "sentinel"}

    @contextmanager
    def started(self, *command: str) -> Iterator[subprocess.Popen[bytes]]:
        """Start a command as a user would, its output in a file; kill it at the end."""
        with (self.folder / "console.log").open("ab") as output:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=self.environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def finish(self, process: subprocess.Popen[bytes], *, within_s: float = 600) -> None:
        """Wait for a command that must end well."""
        try:
            code: int | None = process.wait(within_s)
        except subprocess.TimeoutExpired:
            code = None
        assert code == 0, f"ended with {code}\n{self.told()}"

    def told(self) -> str:
        """Return what the commands and the jobs have said, for messages."""
        logs = [self.folder / "console.log", *sorted(self.folder.glob("logs/slurm/**/*.log"))]
        texts = [f"== {path.name}\n{path.read_text()[-6000:]}" for path in logs if path.exists()]
        return "\n".join(texts)

    def jobs(self, *states: str) -> dict[str, str]:
        """Return this folder's jobs in some states, newest last: number and comment."""
        lines = squeue("--states", ",".join(states or ("all",)), "--format", "%i|%k|%Z")
        rows = [line.split("|") for line in lines]
        mine = {row[0]: row[1] for row in rows if Path(row[2]).resolve() == self.folder.resolve()}
        return dict(sorted(mine.items(), key=lambda item: int(item[0])))

    def answered_in_all(self, jobs: int) -> bool:
        """Return whether so many jobs run and each of their bundles has answers on disk."""
        answered = [path for path in self._journals() if path.stat().st_size > 0]
        return len(self.jobs("RUNNING")) == jobs <= len(answered)

    def _journals(self) -> list[Path]:
        return sorted(self.folder.glob("results/*/journal/**/*.jsonl"))

    def answers(self) -> int:
        """Return how many requests the journals hold, also while they are written."""
        return sum(path.read_bytes().count(b"\n") for path in self._journals())

    def logs(self, rule: str) -> list[Path]:
        """Return the logs of a rule's jobs."""
        return sorted(self.folder.glob(f"results/*/logs/{rule}/**/*.log"))

    def wait_for(self, condition: Callable[[], bool], *, within_s: float = 180) -> None:
        """Wait until something is so."""
        deadline = time.monotonic() + within_s
        while not condition():
            assert time.monotonic() < deadline, self.told()
            time.sleep(0.2)


def squeue(*options: str) -> list[str]:
    """Return the lines that squeue answers."""
    command = ["squeue", "--noheader", *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def show_job(job: str) -> dict[str, str]:
    """Return what Slurm knows of a job."""
    command = ["scontrol", "show", "job", "--oneliner", job]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return dict(word.split("=", maxsplit=1) for word in shown.split() if "=" in word)


def sbatch_on(node: str, *, seconds: int) -> None:
    """Submit a job to the partition that preempts, on all GPUs of one node."""
    command = ["sbatch", "--partition=debug", f"--nodelist={node}", "--gres=gpu:4", "--time=5"]
    command += ["--output=/dev/null", f"--wrap=sleep {seconds}"]
    subprocess.run(command, check=True, capture_output=True)


def make_study(
    folder: Path,
    *,
    models: dict[str, Any],
    problems: int = 8,
    site: dict[str, Any] | None = None,
    **sections: Any,
) -> SlurmStudy:
    """Make a project folder whose paper's study is a small scripted one of two-problem shards."""
    copy_project(
        folder,
        ("slurm",),
        problems=problems,
        models=models,
        judging_shards=4,
        sections=sections,
    )
    profile = folder / "profiles" / "slurm"
    settings = yaml.safe_load((profile / "site.yaml").read_text()) | {
        "account": None,
        "queue": "preemptable",
        "walltime": "00:30:00",
        "cpus": 2,
        "memory_gb": 1,
        "model_folder": None,
    }
    write_yaml(profile / "site.yaml", settings | (site or {}))
    # The tests look at jobs sooner than a user has to.
    config = (profile / "config.v9+.yaml").read_text()
    config = config.replace("status-checks: 60\n", "status-checks: 9\n")
    config = config.replace("latency-wait: 60", "latency-wait: 10")
    (profile / "config.v9+.yaml").write_text(config)
    return SlurmStudy(folder)
