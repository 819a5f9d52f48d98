"""Settings of the study ``evaluators``: audits of the evaluation procedure (Appendix K)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from dhd.config.roles import Distinct, Identifier
from dhd.config.strict import Strict


class EvaluatorsSettings(Strict):
    """Several evaluators judge the same saved answers (Figure 9, Table 28)."""

    models: Annotated[list[Identifier], Distinct] = Field(
        min_length=2, description="Keys of the evaluators' models in the models file."
    )
    submissions: Annotated[int, Field(ge=0)] = Field(
        16_724, description="Saved submissions in all, balanced by family, benchmark and kind."
    )
    triplets: Annotated[int, Field(ge=0)] = Field(
        150,
        description="Triplets (proposed, full, removal) a family, balanced by benchmark and cell.",
    )

    @model_validator(mode="after")
    def _some_answer(self) -> EvaluatorsSettings:
        if not self.submissions and not self.triplets:
            raise ValueError("submissions and triplets are both 0; give one, or remove the study")
        return self
