"""Settings of the analysis: seeds, draws, methods, sample rules and display names."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dhd.config.strict import Strict


class InferenceSettings(Strict):
    """Which method is used where an exact and a Monte Carlo form both exist."""

    method: Literal["exact", "monte_carlo"] = Field(
        "exact", description="exact: full distributions; monte_carlo: random draws, as the paper."
    )
    monte_carlo_draws: int = Field(
        1_000_000,
        gt=0,
        le=100_000_000,
        description="Draws of the blocked permutation test; monte_carlo alone uses them.",
    )


class AnalysisSettings(Strict):
    """The ``analysis`` section of the config; the defaults are the paper's."""

    seed: int = Field(20260814, ge=0, description="Seed of all random numbers of the analysis.")
    bootstrap_resamples: int = Field(
        10_000, gt=0, le=10_000_000, description="Resamples of problems for an interval."
    )
    permutation_draws: int = Field(
        5_000, gt=0, le=10_000_000, description="Permutations within blocks for a test of messages."
    )
    crossfit_null_draws: int = Field(
        2_000, gt=0, le=10_000_000, description="Draws of the null range of cross-fitted gains."
    )
    false_discovery_rate: float = Field(
        0.05, gt=0, lt=1, description="Rate that the Benjamini–Hochberg screens hold."
    )
    inference: InferenceSettings = Field(
        InferenceSettings(), description="Method where an exact and a sampled one both exist."
    )
    require_complete_pool: dict[str, bool] = Field(
        default={"gemma": True},
        description="By family: count only problems with five eligible messages. Families that "
        "are not named: false.",
    )
    model_names: dict[str, str] = Field(
        default={"oss": "OSS", "gemma": "Gemma"},
        description="Names and order of families in tables and figures; one not named shows as its "
        "key, after the others.",
    )
    benchmark_names: dict[str, str] = Field(
        default={
            "omni_math_2": "Omni-MATH-2",
            "jeebench": "JEEBench",
            "scibench": "SciBench",
            "lab_bench": "LAB-Bench",
            "mascqa": "MaScQA",
        },
        description="Names and order of benchmarks in tables and figures; one not named shows as "
        "its key, after the others.",
    )
