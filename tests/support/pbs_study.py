"""A project folder of its own with a small scripted study on the PBS stand-in."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from support.project_copy import copy_project, write_yaml
from support.studies import PROJECT_ROOT

STAND_IN = PROJECT_ROOT / "tests" / "support" / "fakepbs" / "bin"
_SITES = {
    "polaris": {"queue": "preemptable", "gpus_per_node": 4, "gpu_memory_gb": 40},
    "sophia": {"queue": "by-node", "gpus_per_node": 8, "gpu_memory_gb": 40},
}


@dataclass
class PbsStudy:
    """A project folder, its stand-in's folder, and what its commands find in their environment."""

    folder: Path
    machine: str = "polaris"
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def server(self) -> Path:
        """Return the folder of the stand-in's state."""
        return self.folder / "pbs"

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of a login node."""
        binaries = (str(STAND_IN), str(Path(sys.executable).parent), os.environ["PATH"])
        return os.environ | {
            "PATH": os.pathsep.join(binaries),
            "PYTHONPATH": str(PROJECT_ROOT / "src"),
            "FAKEPBS_DIR": str(self.server),
            "FAKEPBS_MACHINE": self.machine,
            "FAKEPBS_KILL_DELAY": "5",
            "DHD_PBS_POLL_S": "3",
            "DHD_SENTINEL_API_KEY": "sentinel-of-a-secret",
            **self.variables,
        }

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a command as a user would, its output in a file."""
        log = self.folder / "console.log"
        with log.open("ab") as output:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                env=self.environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def call(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True
        )

    def finish(self, process: subprocess.Popen[bytes], *, within_s: float = 900) -> None:
        """Wait for a command that must end well."""
        try:
            code = process.wait(within_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = None
        assert code == 0, f"ended with {code}\n{self.told()}"

    def told(self) -> str:
        """Return what the commands and the jobs have said, for messages."""
        files = [self.folder / "console.log", *sorted(self.folder.glob("logs/pbs/*"))]
        texts = [f"== {path.name}\n{path.read_text()[-6000:]}" for path in files if path.exists()]
        return "\n".join(texts)

    def jobs(self) -> dict[str, dict[str, Any]]:
        """Return the stand-in's jobs by number."""
        return {
            path.stem: json.loads(path.read_text())
            for path in sorted(self.server.glob("[0-9]*.json"))
        }

    def jobs_in(self, state: str, name: str = "") -> list[str]:
        """Return the numbers of the jobs in a state, with a text in their names."""
        return [
            number
            for number, job in self.jobs().items()
            if job["job_state"] == state and name in job["Job_Name"]
        ]

    def calls(self, tool: str) -> list[float]:
        """Return when a client was called."""
        path = self.server / "calls.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [call["t"] for call in map(json.loads, lines) if call["tool"] == tool]

    def answers(self) -> int:
        """Return how many requests the journals hold, also while they are written."""
        journals = self.folder.glob("results/*/journal/**/*.jsonl")
        return sum(path.read_bytes().count(b"\n") for path in journals)

    def wait_for(self, condition: Callable[[], bool], *, within_s: float = 300) -> None:
        """Wait until something is so."""
        deadline = time.monotonic() + within_s
        while not condition():
            assert time.monotonic() < deadline, self.told()
            time.sleep(0.1)


def make_study(
    folder: Path,
    *,
    machine: str = "polaris",
    site: dict[str, Any] | None = None,
    models: dict[str, Any] | None = None,
    problems: int = 24,
    **sections: Any,
) -> PbsStudy:
    """Make a project folder whose paper's study is a small scripted one of two-problem shards."""
    copy_project(
        folder,
        ("polaris", "sophia"),
        problems=problems,
        models=models or {"m": {"engine": "scripted"}},
        judging_shards=6,
        sections=sections,
    )
    shipped = yaml.safe_load((folder / "profiles" / machine / "site.yaml").read_text())
    settings = {
        "scheduler": "pbs",
        "account": "test-project",
        "walltime": "01:00:00",
        "filesystems": "home:eagle",
        # A login shell forgets the stand-in's launcher, as it would a module's.
        "setup": [f"export PATH={STAND_IN}:$PATH"],
        "environment": {"PYTHONPATH": str(PROJECT_ROOT / "src")},
        "launcher": shipped["launcher"],
    }
    write_yaml(
        folder / "profiles" / machine / "site.yaml", settings | _SITES[machine] | (site or {})
    )
    profile = folder / "profiles" / machine / "config.v9+.yaml"
    text = profile.read_text().replace("status-checks: 20\n", "status-checks: 1\n")
    profile.write_text(text.replace("latency-wait: 60", "latency-wait: 10"))
    return PbsStudy(folder, machine)
