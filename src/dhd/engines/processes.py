"""The processes of an engine: whose GPU is taken, and children that must not outlive it."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import time
from collections.abc import Collection

from dhd.errors import EngineError

_NVIDIA_SMI_TIMEOUT_S = 30
_PATIENCE_S = 180.0
_LOOK_EVERY_S = 5.0


def refuse_busy_gpus(allowed: Collection[int] = (), *, patience_s: float = _PATIENCE_S) -> None:
    """Raise ``EngineError`` if another process goes on to compute on one of this job's GPUs.

    The last job's process may need minutes to give its memory back. An engine left over from a
    killed job holds its GPU's memory for good, and the next job on the node would fail later with
    an out-of-memory error that names nobody. The GPUs are those of ``CUDA_VISIBLE_DEVICES``, else
    all; where ``nvidia-smi`` is missing or fails, nothing is known and nothing is refused.

    Parameters
    ----------
    allowed
        Process ids that may use the GPUs, beside this process.
    patience_s
        Time that the other process gets to end.
    """
    until = time.monotonic() + patience_s
    while (user := _other_user({os.getpid(), *allowed})) is not None:
        if time.monotonic() >= until:
            devices = os.environ.get("CUDA_VISIBLE_DEVICES", "")
            raise EngineError(
                f"GPU {devices or '(any)'} is already in use by process {user}: end that process, "
                "or give this job another GPU"
            )
        time.sleep(min(_LOOK_EVERY_S, patience_s))


def _other_user(allowed: Collection[int]) -> str | None:
    """Return which process beside the allowed ones uses a GPU of this job; None if none does."""
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
        return None
    for line in listing.splitlines():
        pid, _, what = line.partition(",")
        if pid.strip().isdigit() and int(pid) not in allowed:
            return f"{pid.strip()} ({what.strip()})"
    return None


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
