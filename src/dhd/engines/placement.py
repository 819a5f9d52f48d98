"""Where engines of a model run: how many side by side on a node, and on which of its GPUs."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping

from dhd.config.models import ModelSettings, ScriptedModel, VllmModel
from dhd.errors import EngineError

_MEMORY_SHARE = 0.92
"""Share of a GPU's memory that vLLM takes where ``engine_args`` do not say."""
_ALL_SHARES = 0.95
"""Share that all engines of a job may take together: CUDA itself needs the rest."""
_NVIDIA_SMI_TIMEOUT_S = 30
_DEVICES = "CUDA_VISIBLE_DEVICES"
_UUIDS = ("GPU-", "MIG-")
_UUID = re.compile(r"\(UUID: ([^)\s]+)\)")


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


def memory_share(model: VllmModel) -> float:
    """Return the share of its GPUs' memory that an engine of a model takes, 0…1."""
    return float(model.engine_args.get("gpu_memory_utilization", _MEMORY_SHARE))


def crowding_fault(models: Mapping[str, ModelSettings]) -> str | None:
    """Return why the engines of one job cannot stand side by side on its GPUs; None if they can.

    Each engine of a job takes its share of the same GPUs as soon as it starts, whatever its
    weights need.

    Parameters
    ----------
    models
        The different models that one job asks, by the name that a message gives them.
    """
    shares = {
        name: memory_share(model) for name, model in models.items() if isinstance(model, VllmModel)
    }
    if len(shares) < 2 or sum(shares.values()) <= _ALL_SHARES:
        return None
    listed = " and ".join(f"{share:g}" for share in shares.values())
    each = int(100 * _ALL_SHARES / len(shares)) / 100
    return (
        f"{' and '.join(shares)} are asked by one job and take {listed} of the memory of the same "
        "GPUs; remove studies.protocols.alternate, so that jobs take turns, or give them shares "
        f"of {_ALL_SHARES:g} together, e.g. engine_args: {{gpu_memory_utilization: {each:g}}} each"
    )


def visible_gpus() -> tuple[str, ...]:
    """Return the GPUs that this process may use, as ``CUDA_VISIBLE_DEVICES`` names them.

    They are those that the scheduler chose, else all that ``nvidia-smi`` lists; none where
    neither knows any. A choice of which none is on this node was made for another, whose
    variables a launcher passed on: it counts as none.

    Raises
    ------
    EngineError
        When some of the chosen GPUs are on this node and others are not.
    """
    chosen = os.environ.get(_DEVICES)
    if chosen is not None:
        devices = tuple(device.strip() for device in chosen.split(",") if device.strip())
        foreign = _foreign_gpus(devices)
        if not foreign:
            return devices
        if len(foreign) < len(devices):
            raise EngineError(
                f"{_DEVICES}={chosen}: this node has no {foreign[0]}; correct the variable, or "
                "unset it to use all GPUs of the node"
            )
    listing = _nvidia_smi("--query-gpu=index", "--format=csv,noheader")
    return tuple(line.strip() for line in listing.splitlines() if line.strip().isdigit())


def _foreign_gpus(devices: Iterable[str]) -> list[str]:
    """Return the devices, named by UUID or its beginning, that this node does not have.

    Where ``nvidia-smi`` lists none nothing is known, and none is called foreign.
    """
    named = [device for device in devices if device.startswith(_UUIDS)]
    here = _UUID.findall(_nvidia_smi("-L")) if named else []
    return [one for one in named if here and not any(uuid.startswith(one) for uuid in here)]


def _nvidia_smi(*arguments: str) -> str:
    """Return what ``nvidia-smi`` prints; nothing where it is missing or fails."""
    try:
        return subprocess.run(  # noqa: S603 - no shell
            ["nvidia-smi", *arguments],  # noqa: S607 - wherever the node has it
            capture_output=True,
            text=True,
            timeout=_NVIDIA_SMI_TIMEOUT_S,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


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
