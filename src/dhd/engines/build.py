"""Making the engine that a model's settings describe."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dhd.config.models import ModelSettings, OpenAIModel, ScriptedModel, SimulatedModel, VllmModel
from dhd.engines.base import Engine

#: Finds the folder that a model is loaded from.
Weights = Callable[[VllmModel], Path]


def build_engine(settings: ModelSettings, weights: Weights | None = None) -> Engine:
    """Return the engine of a model, not yet started.

    Each engine's module is imported only when it is needed: a controller has no vLLM, and a
    job on a compute node no HTTP client.

    Parameters
    ----------
    settings
        The model.
    weights
        Finds the folder that an in-job model is loaded from when its engine starts; None to
        load it as the settings name it.
    """
    if isinstance(settings, ScriptedModel):
        from dhd.engines.scripted import ScriptedEngine

        return ScriptedEngine(settings)
    if isinstance(settings, SimulatedModel):
        from dhd.engines.simulated import SimulatedEngine

        return SimulatedEngine(settings)
    if isinstance(settings, OpenAIModel):
        from dhd.engines.openai import OpenAIEngine

        return OpenAIEngine(settings)
    from dhd.engines.vllm import VllmEngine

    return VllmEngine(settings, weights)
