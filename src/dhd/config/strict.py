"""The base of every settings model."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A frozen settings model that refuses unknown keys and silent type changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
