"""What the tests with the real vLLM share."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from dhd.config.models import VllmModel
from dhd.engines.vllm_rules import apply_environment, is_cpu_build
from dhd.errors import EngineError

#: One thread: two that spin for each other take many times as long on a busy machine.
ENVIRONMENT = {"OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="session")
def demo_settings(project_root: Path) -> VllmModel:
    """Return the settings of the demo model; skip where it was not prepared."""
    folder = project_root / "models" / "SmolLM2-135M-Instruct"
    if not folder.is_dir():
        pytest.skip(f"no demo model: run 'dhd prepare-model --out {folder}'")
    return VllmModel(
        engine="vllm",
        path=str(folder),
        dtype="float32",
        max_model_len=256,
        max_in_flight=16,
        env=ENVIRONMENT,
    )


@pytest.fixture(scope="session", autouse=True)
def imported_vllm() -> Iterator[None]:
    """Import vLLM once, as the engine does; only this import may warn (torch's deprecations)."""
    environ = dict(os.environ)
    try:
        cpu = is_cpu_build()
    except EngineError as error:
        pytest.skip(str(error))
    settings = VllmModel(engine="vllm", path="-", max_model_len=1, env=ENVIRONMENT)
    apply_environment(settings, cpu=cpu)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import vllm.entrypoints.llm
        import vllm.parser  # noqa: F401
    yield
    os.environ.clear()
    os.environ.update(environ)
