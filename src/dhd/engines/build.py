"""Making the engine that a model's settings describe."""

from __future__ import annotations

from dhd.config.models import ModelSettings, OpenAIModel, ScriptedModel, SimulatedModel
from dhd.engines.base import Engine


def build_engine(settings: ModelSettings) -> Engine:
    """Return the engine of a model, not yet started.

    Each engine's module is imported only when it is needed: a controller has no vLLM, and a
    job on a compute node no HTTP client.
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

    return VllmEngine(settings)
