"""Settings of the studies beyond the scan: one optional sub-section a study."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, field_validator

from dhd.config.audits import EvaluatorsSettings
from dhd.config.protocols import ProtocolsSettings
from dhd.config.roles import Distinct, Identifier, RoleDecoding
from dhd.config.strict import Strict

Count = Annotated[int, Field(gt=0)]
Names = Annotated[list[Identifier], Distinct]
CaseCategory = Literal[
    "wrong_helpful", "correct_helpful", "wrong_harmful", "correct_harmful", "indeterminate"
]
ReplayStudy = Literal["repeats", "order", "integrator_swap", "masking"]
"""Studies that replay cached pools, in the order in which they can run."""

_FAMILIES = Field(
    None, min_length=1, description="Families that take part; null: those of repeats, else all."
)


class RepeatsSettings(Strict):
    """Controlled repeats: blocks of identical full-pool calls and removals (Appendix G)."""

    problems: Count = Field(200, description="Problems drawn from each benchmark, per family.")
    blocks: int = Field(
        5,
        ge=2,
        description="Blocks a problem: two full-pool calls, five removals. One block alone "
        "separates no message.",
    )
    families: Names | None = _FAMILIES
    stratified: Names | None = Field(
        None,
        description="Benchmarks drawn in proportion to their strata; null: those of "
        "loader omni_math_2.",
    )


class OrderSettings(Strict):
    """Random call order: the first of the repeated problems in new blocks (Table 22)."""

    problems: Count = Field(20, description="Problems of each benchmark, of those repeated.")
    blocks: Count = Field(3, description="Blocks a problem, each in a random order of its own.")
    families: Names | None = _FAMILIES


class IntegratorSwapSettings(Strict):
    """Pools of one family replayed by other families' integrators (Table 22)."""

    problems: Count = Field(20, description="Problems of each benchmark, of those repeated.")
    blocks: Count = Field(3, description="Blocks a problem.")
    integrators: dict[Identifier, Annotated[Names, Field(min_length=1)]] = Field(
        min_length=1, description="Family that wrote the pools: families that integrate them."
    )


class MaskingSettings(Strict):
    """Component masking of messages chosen by their repeated effect (Appendix H, Table 23)."""

    repetitions: Count = Field(5, description="Repetitions of a case's eight calls.")
    cases: dict[CaseCategory, Annotated[int, Field(ge=0)]] = Field(
        default={
            "wrong_helpful": 10,
            "correct_helpful": 3,
            "wrong_harmful": 3,
            "correct_harmful": 2,
            "indeterminate": 4,
        },
        description="Messages of each category, per family.",
    )
    families: Names | None = _FAMILIES

    @field_validator("cases")
    @classmethod
    def _some_case(cls, value: dict[CaseCategory, int]) -> dict[CaseCategory, int]:
        if not any(value.values()):
            raise ValueError("wants no message; give a category a number, or remove the study")
        return value


ReplayStudySettings: TypeAlias = (
    RepeatsSettings | OrderSettings | IntegratorSwapSettings | MaskingSettings
)


class StudiesSettings(Strict):
    """The ``studies`` section of the config: a study that is absent does not run."""

    seed: int = Field(20260814, ge=0, description="Seed of samples and schedules.")
    integrator: RoleDecoding | None = Field(
        None,
        description="Sampling of the integrator in all replay studies, so that they match; "
        "null: as decoding.integrator.",
    )
    repeats: RepeatsSettings | None = Field(
        None, description="Full-pool calls and removals, repeated in blocks; null: does not run."
    )
    order: OrderSettings | None = Field(
        None, description="Repeats in a random call order; needs repeats; null: does not run."
    )
    integrator_swap: IntegratorSwapSettings | None = Field(
        None, description="Pools before another family; needs repeats; null: does not run."
    )
    masking: MaskingSettings | None = Field(
        None, description="Messages shown in part; needs repeats; null: does not run."
    )
    protocols: ProtocolsSettings | None = Field(
        None, description="The four end-to-end protocols; null: does not run."
    )
    evaluators: EvaluatorsSettings | None = Field(
        None, description="Audit of the evaluators; null: does not run."
    )

    def named_models(self) -> dict[str, str]:
        """Return the models that the studies name themselves: key of the setting → model."""
        named = {}
        if self.protocols is not None and self.protocols.hint_writer is not None:
            named["studies.protocols.hint_writer"] = self.protocols.hint_writer
        for index, model in enumerate(self.evaluators.models if self.evaluators else ()):
            named[f"studies.evaluators.models.{index}"] = model
        return named

    def replays(self) -> dict[ReplayStudy, ReplayStudySettings]:
        """Return the replay studies that are configured, in the order in which they can run."""
        found: dict[ReplayStudy, ReplayStudySettings | None] = {
            "repeats": self.repeats,
            "order": self.order,
            "integrator_swap": self.integrator_swap,
            "masking": self.masking,
        }
        return {name: settings for name, settings in found.items() if settings is not None}
