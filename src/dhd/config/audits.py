"""Settings of the study ``evaluators``: audits of the evaluation procedure (Appendix K)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator

from dhd.config.roles import Identifier
from dhd.config.strict import Strict


class EvaluatorsSettings(Strict):
    """Several evaluators judge the same saved answers (Figure 9, Table 28)."""

    models: list[Identifier] = Field(
        min_length=2, description="Keys of the evaluators' models in the models file."
    )
    submissions: Annotated[int, Field(ge=0)] = Field(
        16_724, description="Saved submissions in all, balanced by family, benchmark and kind."
    )
    triplets: Annotated[int, Field(ge=0)] = Field(
        150,
        description="Triplets (proposed, full, removal) a family, balanced by benchmark and cell.",
    )

    @field_validator("models")
    @classmethod
    def _no_model_twice(cls, value: list[str]) -> list[str]:
        if len(set(value)) < len(value):
            raise ValueError("must be distinct models")
        return value
