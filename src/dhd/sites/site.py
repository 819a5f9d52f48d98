"""Settings of a site: the one short file that a user of a cluster edits."""

from __future__ import annotations

import re
import shlex
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from dhd.config.strict import Strict
from dhd.sites.queues import Machine, QueueRules
from dhd.sites.times import Walltime

_PLACEHOLDER = re.compile(r"CHANGE_?ME", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Za-z_]\w*")
_SECRET = re.compile(r"(?i)(api_?key|token|secret|password)$")
_RESOURCE = re.compile(r"[\w:.+-]+", re.ASCII)
_GRES = re.compile(r"\w+(:[\w.-]+)?:(?P<count>[1-9]\d*)", re.ASCII)
_NOT_FOR = {
    "pbs": ("gres", "cpus", "memory_gb", "options"),
    "slurm": ("filesystems",),
}
"""Keys that a scheduler's jobs have no use for."""


class CpuJobs(Strict):
    """Jobs that need no engine, such as judging by rules: one node each."""

    queue: str | None = Field(None, description="Null: the queue of all other jobs.")
    walltime: Walltime | None = Field(None, description="Null: as all other jobs.")


class SiteFile(Strict):
    """Everything that ``site.yaml`` may say."""

    scheduler: Literal["pbs", "slurm"] = Field(description="What runs the jobs.")
    account: str | None = Field(
        None, min_length=1, description="Project that pays; null on a Slurm without accounting."
    )
    queue: str = Field(min_length=1, description="Queue (PBS) or partition (Slurm).")
    nodes: int = Field(1, gt=0, description="Nodes of one job.")
    walltime: Walltime = Field(description="Time limit of a job, HH:MM:SS, in quotes.")
    filesystems: str | None = Field(
        None, description="PBS: file systems that a job needs; null: asks for none."
    )
    gpus_per_node: int = Field(gt=0, description="GPUs that a node has.")
    gpu_memory_gb: int = Field(gt=0, description="Memory of one GPU, in GB.")
    gpus: int | None = Field(
        None, gt=0, description="GPUs of a job, where a queue gives single ones; null: whole nodes."
    )
    gres: str | None = Field(None, description="Slurm: GPUs of a node; null: gpu:gpus_per_node.")
    cpus: int | None = Field(
        None, gt=0, description="Slurm: CPUs of a node that a job takes; null: its default."
    )
    memory_gb: int | None = Field(
        None,
        gt=0,
        description="Slurm: memory of a node, in GB, that a job takes; null: its default.",
    )
    options: str = Field("", description="Slurm: further options of sbatch.")
    setup: list[str] = Field(
        default=[], description="Shell lines at a job's start: modules, environments."
    )
    environment: dict[str, str] = Field(
        default={}, description="Variables of all jobs; never keys of endpoints."
    )
    launcher: str | None = Field(
        None,
        description="Starts one rank on each of {nodes} nodes, e.g. mpiexec -n {nodes}; "
        "null: jobs have one node.",
    )
    model_folder: str | None = Field(
        None,
        description="Hugging Face home that holds the models; null: HF_HOME, "
        "else that of the user.",
    )
    local_weights: str | None = Field(
        None, description="Node-local folder to copy weights to; null: read them where they are."
    )
    cpu: CpuJobs = Field(CpuJobs(), description="Jobs that need no GPU.")

    @field_validator("*", mode="after")
    @classmethod
    def _filled_in(cls, value: Any) -> Any:
        texts = value if isinstance(value, list) else [value]
        for text in texts:
            if isinstance(text, str) and (found := _PLACEHOLDER.search(text)):
                raise ValueError(f"still has the placeholder {found[0]!r}; put in your own")
        return value

    @field_validator("environment")
    @classmethod
    def _plain_variables(cls, value: dict[str, str]) -> dict[str, str]:
        for name, content in value.items():
            if not _VARIABLE.fullmatch(name):
                raise ValueError(f"{name!r} is no name of a variable")
            if _SECRET.search(name) and content:
                raise ValueError(
                    f"{name} looks like a secret; put it in a file that only you can read and "
                    "source that in 'setup'"
                )
            if _PLACEHOLDER.search(content):
                raise ValueError(f"{name} still has a placeholder; put in your own")
        return value

    @field_validator("account", "queue", "filesystems")
    @classmethod
    def _one_word(cls, value: str | None) -> str | None:
        if value is not None and not _RESOURCE.fullmatch(value):
            raise ValueError("one word of letters, digits and : . + - _")
        return value

    @field_validator("gres")
    @classmethod
    def _counted(cls, value: str | None) -> str | None:
        if value is not None and not _GRES.fullmatch(value):
            raise ValueError("write it as gpu:COUNT or gpu:TYPE:COUNT, e.g. gpu:a100:4")
        return value

    @field_validator("launcher")
    @classmethod
    def _counts_nodes(cls, value: str | None) -> str | None:
        if value is not None:
            if "{nodes}" not in value:
                raise ValueError("say with {nodes} where the number of nodes goes")
            shlex.split(value)
        return value

    @model_validator(mode="after")
    def _complete(self) -> SiteFile:
        if self.scheduler == "pbs" and self.account is None:
            raise ValueError("account: PBS needs the project that pays")
        useless = [key for key in _NOT_FOR[self.scheduler] if getattr(self, key)]
        if useless:
            raise ValueError(f"{useless[0]}: has no effect on {self.scheduler}; remove it")
        if self.nodes > 1 and self.launcher is None:
            raise ValueError(
                f"nodes = {self.nodes}: jobs of several nodes need 'launcher', the command that "
                "starts one rank on each node"
            )
        if self.gpus is not None and self.nodes > 1:
            raise ValueError("gpus: single GPUs are given on one node only; set nodes to 1")
        self._count_gpus()
        return self

    def _count_gpus(self) -> None:
        """Raise when ``gres`` asks for another number of GPUs than engines are planned for."""
        found = None if self.gres is None else _GRES.fullmatch(self.gres)
        gpus = self.gpus or self.gpus_per_node
        if found is not None and int(found["count"]) != gpus:
            raise ValueError(
                f"gres = {self.gres!r}: asks for {found['count']} GPU(s) of a node, while engines "
                f"are planned for {gpus} (gpus_per_node, or gpus); make them the same"
            )


class Site(SiteFile):
    """A site with the rules of its machine."""

    file: str
    machine: Machine | None = None

    @property
    def gpus_of_node(self) -> int:
        """Return how many GPUs of a node a job sees."""
        return self.gpus or self.gpus_per_node

    @property
    def cpu_queue(self) -> str:
        """Return the queue of jobs that need no engine."""
        return self.cpu.queue or self.queue

    @property
    def cpu_walltime(self) -> str:
        """Return the walltime of jobs that need no engine."""
        return self.cpu.walltime or self.walltime

    def rules(self, queue: str) -> QueueRules | None:
        """Return the rules of a queue, or None where the machine's queues are not stated."""
        return None if self.machine is None else self.machine.queues.get(queue)

    def launch_command(self, nodes: int) -> list[str]:
        """Return the words that come before a rank's command; none for one node."""
        if nodes == 1 or self.launcher is None:
            return []
        return [word.replace("{nodes}", str(nodes)) for word in shlex.split(self.launcher)]
