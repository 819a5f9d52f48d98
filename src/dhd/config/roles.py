"""Settings that several sections share: keys, and the sampling of a role."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Annotated, TypeVar

from pydantic import AfterValidator, Field, StringConstraints

from dhd.config.strict import Strict
from dhd.requests import Decoding

Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.-]*$", max_length=64)]
"""A key that becomes a wildcard and part of a path."""

T = TypeVar("T", bound=Hashable)


def _distinct(values: list[T]) -> list[T]:
    """Refuse lists that name something twice: its calls would be made, and its rows be, double."""
    twice = [str(value) for place, value in enumerate(values) if value in values[:place]]
    if twice:
        raise ValueError(f"names {', '.join(twice)} twice; each may be there once")
    return values


Distinct = AfterValidator(_distinct)
"""Says of a list that its values must be distinct."""


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
