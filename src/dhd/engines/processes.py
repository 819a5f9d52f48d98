"""The processes of an engine: whose GPU is taken, and children that must not outlive it."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import time
from collections.abc import Collection

from dhd.errors import EngineError

_NVIDIA_SMI_TIMEOUT_S = 30


def refuse_busy_gpus(allowed: Collection[int] = ()) -> None:
    """Raise ``EngineError`` if another process computes on one of this job's GPUs.

    An engine left over from a killed job holds its GPU's memory, and the next job on the node
    fails later with an out-of-memory error that names nobody. The GPUs are those of
    ``CUDA_VISIBLE_DEVICES``, else all; where ``nvidia-smi`` is missing or fails, nothing is
    known and nothing is refused.

    Parameters
    ----------
    allowed
        Process ids that may use the GPUs, beside this process.
    """
    command = [
        "nvidia-smi",
        "--query-compute-apps=pid,process_name,used_memory",
        "--format=csv,noheader",
    ]
    devices = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    if devices:
        command.append(f"--id={devices}")
    try:
        listing = subprocess.run(  # noqa: S603 - fixed command, no shell
            command, capture_output=True, text=True, timeout=_NVIDIA_SMI_TIMEOUT_S, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return
    for line in listing.splitlines():
        pid, _, what = line.partition(",")
        if pid.strip().isdigit() and int(pid) not in {os.getpid(), *allowed}:
            raise EngineError(
                f"GPU {devices or '(any)'} is already in use by process {pid.strip()} "
                f"({what.strip()}): end that process, or give this job another GPU"
            )


def end_children(grace_s: float) -> None:
    """Wait ``grace_s`` seconds in all for this process's workers to end, then kill what is left.

    Workers are those that ``multiprocessing`` started, as vLLM does.
    """
    deadline = time.monotonic() + grace_s
    for child in multiprocessing.active_children():
        child.join(max(0.0, deadline - time.monotonic()))
        if child.is_alive():
            child.kill()
            child.join()
