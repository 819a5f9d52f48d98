"""Settings of a study: one model a section of ``config/config.yaml``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from dhd.analysis.settings import AnalysisSettings
from dhd.config.benchmarks import BenchmarkSettings
from dhd.config.prompts import PromptSettings
from dhd.config.roles import Identifier, RoleDecoding
from dhd.config.strict import Strict
from dhd.config.studies import ReplayStudy, StudiesSettings
from dhd.requests import Decoding, Role


class FamilySettings(Strict):
    """A generating family: the model that fills all reasoning roles."""

    actor: str = Field(description="Key of the model in the models file.")


class JudgingSettings(Strict):
    """How submissions are judged (paper, Evaluation Procedure)."""

    method: Literal["rules", "llm", "rules_then_llm"]
    evaluator: str | None = Field(None, description="Key of the evaluator's model.")
    shared_with: list[str] = Field(
        default_factory=list,
        description="Families whose actor is the evaluator's model, on purpose.",
    )
    share_identical_submissions: bool = Field(
        True, description="Judge equal submissions of a problem once."
    )
    comparison_limit_s: float = Field(5.0, gt=0, description="Time limit of one rule comparison.")
    max_attempts: int = Field(3, gt=0, description="Tries for a verdict that can be parsed.")

    @model_validator(mode="after")
    def _evaluator_fits_method(self) -> JudgingSettings:
        if self.method == "rules" and self.evaluator is not None:
            raise ValueError("method 'rules' asks no model: remove 'evaluator'")
        if self.method != "rules" and self.evaluator is None:
            raise ValueError(f"method {self.method!r} needs 'evaluator', a key of the models file")
        return self


class DecodingSettings(Strict):
    """Sampling settings of all roles; the defaults are the paper's (Table 27)."""

    recruiter: RoleDecoding = RoleDecoding(temperature=0.0, max_tokens=2048)
    hypothesizer: RoleDecoding = RoleDecoding(temperature=0.7, max_tokens=4096)
    integrator: RoleDecoding = RoleDecoding(temperature=0.0, max_tokens=4096)
    evaluator: RoleDecoding = RoleDecoding(temperature=0.0, max_tokens=4096)

    def by_role(self) -> dict[Role, Decoding]:
        """Return role → decoding."""
        return {
            "recruiter": self.recruiter.as_decoding(),
            "hypothesizer": self.hypothesizer.as_decoding(),
            "integrator": self.integrator.as_decoding(),
            "evaluator": self.evaluator.as_decoding(),
        }


class DeliberationSettings(Strict):
    """Retries of outputs that cannot be used."""

    max_roster_attempts: int = Field(3, gt=0)
    max_message_attempts: int = Field(3, gt=0)
    retry_temperature: float | None = Field(
        None,
        ge=0,
        le=2,
        description="Temperature of second and later attempts; null keeps the role's.",
    )


class ReplaySettings(Strict):
    """How the integrator scan asks its cells."""

    share_identical_inputs: bool = Field(
        True, description="Ask equal inputs once: 18 instead of 24 integrator calls a problem."
    )


class JournalSettings(Strict):
    """Durability and retries of requests."""

    max_attempts: int = Field(
        3, gt=0, description="Runs in which a failed request is asked before it stays failed."
    )
    drain_s: float = Field(
        60.0, ge=0, description="Time for requests in flight to finish after SIGTERM."
    )
    stale_after_s: float = Field(
        180.0, gt=0, description="Age of a heartbeat after which another host's lock is void."
    )
    walltime_margin_s: float = Field(
        90.0, ge=0, description="Time before the end of a job's walltime that is kept for writing."
    )
    longest_request_s: float = Field(
        120.0,
        ge=0,
        description="Time that a request is expected to take at most, until a job has seen one.",
    )


class ShardSettings(Strict):
    """Unit of work and of journal."""

    problems: int = Field(16, gt=0, description="Problems of one shard.")


class BundleSettings(Strict):
    """Unit of submission: the shards that one scheduler job takes, for each of its nodes."""

    deliberation_shards: int = Field(8, gt=0)
    judging_shards: int = Field(16, gt=0)
    replay_shards: int = Field(
        512, gt=0, description="A replay study draws few problems of a shard."
    )
    protocol_shards: int = Field(
        32, gt=0, description="A problem takes some 60 calls in the four protocols."
    )


class StudySettings(Strict):
    """One study: everything that ``config/config.yaml`` may say."""

    study: Identifier = Field(description="Name of the study and of its results folder.")
    seed: int = Field(20260814, ge=0, description="Seed of all requests.")
    models_file: str = "config/models.yaml"
    families: dict[Identifier, FamilySettings] = Field(min_length=1)
    benchmarks: dict[Identifier, BenchmarkSettings] = Field(min_length=1)
    judging: JudgingSettings
    decoding: DecodingSettings = DecodingSettings()
    prompts: PromptSettings = PromptSettings()
    deliberation: DeliberationSettings = DeliberationSettings()
    replay: ReplaySettings = ReplaySettings()
    studies: StudiesSettings = StudiesSettings()
    journal: JournalSettings = JournalSettings()
    shards: ShardSettings = ShardSettings()
    bundles: BundleSettings = BundleSettings()
    analysis: AnalysisSettings = AnalysisSettings()

    def replay_pairs(self, study: ReplayStudy) -> tuple[tuple[str, str], ...]:
        """Return (family that wrote the pools, family that integrates) of a replay study.

        Families that a study does not name are those of the repeats.
        """
        studies = self.studies
        if study == "integrator_swap":
            swaps = {} if studies.integrator_swap is None else studies.integrator_swap.integrators
            return tuple((model, other) for model, others in swaps.items() for other in others)
        repeated = None if studies.repeats is None else studies.repeats.families
        named = getattr(studies.replays()[study], "families", None) or repeated or self.families
        return tuple((family, family) for family in named)
