"""Settings that several sections share: keys, and the sampling of a role."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from dhd.config.strict import Strict
from dhd.requests import Decoding

Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.-]*$", max_length=64)]
"""A key that becomes a wildcard and part of a path."""


class RoleDecoding(Strict):
    """Sampling settings of one role (paper Table 27)."""

    temperature: float = Field(ge=0, le=2, description="0 takes the likeliest token each time.")
    max_tokens: int = Field(gt=0, description="Most output tokens of a call, reasoning included.")
    top_p: float = Field(
        1.0, gt=0, le=1, description="Sample among the likeliest tokens of this share; 1: all."
    )

    def as_decoding(self) -> Decoding:
        """Return the settings as requests carry them."""
        return Decoding(self.temperature, self.max_tokens, self.top_p)
