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

    method: Literal["rules", "llm", "rules_then_llm"] = Field(
        description="rules: compare by answer format; llm: ask the evaluator; rules_then_llm: ask "
        "it only where rules cannot decide."
    )
    evaluator: str | None = Field(
        None, description="Key of the evaluator's model in the models file; null with rules alone."
    )
    shared_with: list[str] = Field(
        default=[],
        description="Families whose actor is the evaluator's model, on purpose.",
    )
    share_identical_submissions: bool = Field(
        True, description="Judge equal submissions of a problem once; false: each on its own."
    )
    comparison_limit_s: float = Field(
        5.0, gt=0, description="Time limit of one comparison by rules, in seconds."
    )
    max_attempts: int = Field(
        3, gt=0, description="Calls of the evaluator for a verdict that can be read."
    )

    @model_validator(mode="after")
    def _evaluator_fits_method(self) -> JudgingSettings:
        if self.method == "rules" and self.evaluator is not None:
            raise ValueError("method 'rules' asks no model: remove 'evaluator'")
        if self.method != "rules" and self.evaluator is None:
            raise ValueError(f"method {self.method!r} needs 'evaluator', a key of the models file")
        return self


class DecodingSettings(Strict):
    """Sampling settings of all roles; the defaults are the paper's (Table 27)."""

    recruiter: RoleDecoding = Field(
        RoleDecoding(temperature=0.0, max_tokens=2048), description="Call for the five roles."
    )
    hypothesizer: RoleDecoding = Field(
        RoleDecoding(temperature=0.7, max_tokens=4096), description="Calls for the five messages."
    )
    integrator: RoleDecoding = Field(
        RoleDecoding(temperature=0.0, max_tokens=4096),
        description="Calls for final answers, the independent solver's included.",
    )
    evaluator: RoleDecoding = Field(
        RoleDecoding(temperature=0.0, max_tokens=4096), description="Calls for verdicts and hints."
    )

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

    max_roster_attempts: int = Field(
        3, gt=0, description="Calls for a problem's five roles that can be read."
    )
    max_message_attempts: int = Field(
        3, gt=0, description="Calls for a message that can be read, for each of the five."
    )
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
        60.0, ge=0, description="Seconds for requests in flight to finish after SIGTERM or Ctrl-C."
    )
    stale_after_s: float = Field(
        180.0, gt=0, description="Seconds without a heartbeat that void another host's lock."
    )
    walltime_margin_s: float = Field(
        90.0, ge=0, description="Seconds before the end of a job's walltime kept for writing."
    )
    longest_request_s: float = Field(
        120.0,
        ge=0,
        description="Seconds that a request is taken to last at most, until a job has seen one.",
    )


class ShardSettings(Strict):
    """Unit of work and of journal."""

    problems: int = Field(16, gt=0, description="Problems of one shard.")


class BundleSettings(Strict):
    """Unit of submission: the shards that one scheduler job takes, for each of its nodes."""

    deliberation_shards: int = Field(8, gt=0, description="Shards of the scan in one job.")
    judging_shards: int = Field(16, gt=0, description="Shards in one job that judges.")
    replay_shards: int = Field(
        512, gt=0, description="Shards of a replay study in one job; it draws few problems of each."
    )
    protocol_shards: int = Field(
        32, gt=0, description="Shards in one job of the protocols; a problem takes some 60 calls."
    )


class StudySettings(Strict):
    """One study: everything that ``config/config.yaml`` may say."""

    study: Identifier = Field(description="Name of the study and of its results folder.")
    seed: int = Field(20260814, ge=0, description="Seed of all requests.")
    models_file: str = Field(
        "config/models.yaml", description="File of the models that a study may name."
    )
    families: dict[Identifier, FamilySettings] = Field(
        min_length=1, description="Families that write and replay messages, by a key of your own."
    )
    benchmarks: dict[Identifier, BenchmarkSettings] = Field(
        min_length=1, description="Sets of problems, by a key of your own."
    )
    judging: JudgingSettings = Field(description="How submissions are judged.")
    decoding: DecodingSettings = Field(
        DecodingSettings(),
        description="Sampling of each role; a role that is absent keeps its own.",
    )
    prompts: PromptSettings = Field(
        PromptSettings(), description="Templates, and the form of structured answers."
    )
    deliberation: DeliberationSettings = Field(
        DeliberationSettings(), description="Retries of rosters and messages."
    )
    replay: ReplaySettings = Field(
        ReplaySettings(), description="Which integrator calls the scan makes."
    )
    studies: StudiesSettings = Field(
        StudiesSettings(), description="Further studies; each that is absent does not run."
    )
    journal: JournalSettings = Field(
        JournalSettings(), description="Failed requests, and the end of jobs."
    )
    shards: ShardSettings = Field(ShardSettings(), description="Problems of one unit of work.")
    bundles: BundleSettings = Field(
        BundleSettings(), description="Shards of one scheduler job, for each of its nodes."
    )
    analysis: AnalysisSettings = Field(
        AnalysisSettings(), description="Statistics and display names; asks no model anew."
    )

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
