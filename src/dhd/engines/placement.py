"""Where engines of a model run: how many side by side on a node, and on which of its GPUs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping

from dhd.config.models import ModelSettings, ScriptedModel, VllmModel
from dhd.errors import EngineError

_NVIDIA_SMI_TIMEOUT_S = 30
_DEVICES = "CUDA_VISIBLE_DEVICES"


def engines_on_node(model: ModelSettings, gpus_per_node: int) -> int:
    """Return how many engines of a model run side by side on one node.

    Parameters
    ----------
    gpus_per_node
        GPUs of the node; 0 where nothing is known of it, as on one machine without a site.

    Returns
    -------
    int
        0 for a model that needs no engine in the job: it is behind an endpoint, or a stand-in
        in the job's own process.
    """
    if isinstance(model, VllmModel):
        return model.engines_per_node or max(1, gpus_per_node // model.tensor_parallel_size)
    if isinstance(model, ScriptedModel):
        return model.engines_per_node or 0
    return 0


def engines_of_job(models: Iterable[ModelSettings], gpus_per_node: int) -> int:
    """Return how many engine processes a job starts on each node; each asks all of its models."""
    counts = (engines_on_node(model, gpus_per_node) for model in models)
    return min((count for count in counts if count), default=0)


def visible_gpus() -> tuple[str, ...]:
    """Return the GPUs that this process may use, as ``CUDA_VISIBLE_DEVICES`` names them.

    They are those that the scheduler chose, else all that ``nvidia-smi`` lists; none where
    neither knows any.
    """
    chosen = os.environ.get(_DEVICES)
    if chosen is not None:
        return tuple(device for device in chosen.split(",") if device)
    command = ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"]
    try:
        listing = subprocess.run(  # noqa: S603 - fixed command, no shell
            command, capture_output=True, text=True, timeout=_NVIDIA_SMI_TIMEOUT_S, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(line.strip() for line in listing.splitlines() if line.strip().isdigit())


def gpus_of_engine(model: ModelSettings) -> int:
    """Return how many of the visible GPUs one engine of a model takes."""
    if not isinstance(model, VllmModel):
        return 0
    return min(model.tensor_parallel_size, len(visible_gpus()))


def slot_environment(gpus: tuple[str, ...], slot: int, slots: int) -> Mapping[str, str]:
    """Return the variables that give one of a node's engines its equal share of the GPUs.

    Engines that start at the same time must not look for free ports from the same number on.

    Raises
    ------
    EngineError
        When there are GPUs, but fewer than engines.
    """
    variables = {"VLLM_PORT": str(20000 + 500 * slot)}
    if not gpus:
        return variables
    share = len(gpus) // slots
    if share == 0:
        raise EngineError(
            f"{slots} engines for {len(gpus)} GPU(s) ({','.join(gpus)}): engines_per_node of the "
            "model is too high for this node, or the job got fewer GPUs than the site file says"
        )
    return variables | {_DEVICES: ",".join(gpus[slot * share : (slot + 1) * share])}
