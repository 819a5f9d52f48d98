"""Asking a simulated engine in memory: problems, pools and outcomes without files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dhd.config.models import SimulatedModel
from dhd.config.prompts import PromptSettings
from dhd.config.study import DecodingSettings
from dhd.deliberation import Deliberation, ProtocolSetup, deliberate
from dhd.engines.simulated import SimulatedEngine
from dhd.problems import Problem
from dhd.prompts import PromptSet
from dhd.requests import Completion, Generate, KeyMaker, Request
from dhd.simulation.stand_ins import stand_in

PROJECT_ROOT = Path(__file__).resolve().parents[2]


def model(name: str = "m", **sections: Any) -> SimulatedModel:
    """Return a simulated model with some settings."""
    return SimulatedModel.model_validate({"engine": "simulated", "name": name, **sections})


def problem(code: str) -> Problem:
    """Return the problem of a stand-in, as the loader of its file gives it."""
    one = stand_in(code)
    return Problem(
        problem_uid=f"{one.benchmark}:{code}",
        benchmark=one.benchmark,
        problem=one.problem,
        reference=one.item.right,
        answer_format=one.answer_format,
        options=one.item.options,
        stratum=one.stratum,
        unit=one.item.unit,
    )


def setup() -> ProtocolSetup:
    """Return the default prompts and decoding; no sharing of inputs."""
    prompts = PromptSet(PromptSettings(), PROJECT_ROOT)
    return ProtocolSetup(prompts, DecodingSettings().by_role(), share_identical_inputs=False)


def asking(settings: SimulatedModel, seed: int = 1) -> Generate:
    """Return a ``generate`` that a simulated model answers at once."""
    engine, keys = SimulatedEngine(settings), KeyMaker(settings.identity(), seed)

    async def generate(request: Request) -> Completion:
        return engine.answer(keys.key(request), request)

    return generate


def scan(settings: SimulatedModel, codes: Sequence[str]) -> list[Deliberation]:
    """Return the deliberation of one simulated model on some stand-ins."""
    generate, shared = asking(settings), setup()

    async def everything() -> list[Deliberation]:
        return [await deliberate(problem(code), shared, generate) for code in codes]

    return asyncio.run(everything())
