"""Settings of the analysis: seeds, draws, methods, sample rules and display names."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dhd.config.strict import Strict


class InferenceSettings(Strict):
    """Which method is used where an exact and a Monte Carlo form both exist."""

    method: Literal["exact", "monte_carlo"] = "exact"
    monte_carlo_draws: int = Field(
        1_000_000, gt=0, le=100_000_000, description="Draws of the blocked test."
    )


class AnalysisSettings(Strict):
    """The ``analysis`` section of the config.

    Attributes
    ----------
    require_complete_pool
        Per model: count a problem only when all five messages are eligible
        (paper: OSS false, Gemma true).
    model_names, benchmark_names
        Display names; their order is the order in tables and figures. Keys that are not
        named show as they are, after the named ones.
    """

    seed: int = Field(20260814, ge=0)
    bootstrap_resamples: int = Field(10_000, gt=0, le=10_000_000)
    permutation_draws: int = Field(5_000, gt=0, le=10_000_000)
    crossfit_null_draws: int = Field(2_000, gt=0, le=10_000_000)
    false_discovery_rate: float = Field(0.05, gt=0, lt=1)
    inference: InferenceSettings = InferenceSettings()
    require_complete_pool: dict[str, bool] = Field(default_factory=lambda: {"gemma": True})
    model_names: dict[str, str] = Field(default_factory=lambda: {"oss": "OSS", "gemma": "Gemma"})
    benchmark_names: dict[str, str] = Field(
        default_factory=lambda: {
            "omni_math_2": "Omni-MATH-2",
            "jeebench": "JEEBench",
            "scibench": "SciBench",
            "lab_bench": "LAB-Bench",
            "mascqa": "MaScQA",
        }
    )
