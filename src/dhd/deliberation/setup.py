"""What protocol coroutines need beside the problem: prompts, decoding, retries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dhd.config.study import StudySettings
from dhd.prompts import PromptSet
from dhd.requests import Decoding, Request, Role, Turn


@dataclass(frozen=True, slots=True)
class ProtocolSetup:
    """Prompts and settings of one family's protocol.

    Attributes
    ----------
    prompts
        Renders every prompt and its answer schema.
    decoding
        Sampling settings of each role (paper Table 27).
    max_roster_attempts, max_message_attempts
        Tries for an output that can be parsed.
    retry_temperature
        Temperature of second and later tries, or None to keep the role's.
    share_identical_inputs
        Ask equal integrator inputs once.
    """

    prompts: PromptSet
    decoding: Mapping[Role, Decoding]
    max_roster_attempts: int = 3
    max_message_attempts: int = 3
    retry_temperature: float | None = None
    share_identical_inputs: bool = True

    @classmethod
    def of(cls, settings: StudySettings, prompts: PromptSet) -> ProtocolSetup:
        """Return the setup that a study's settings describe."""
        retries = settings.deliberation
        return cls(
            prompts=prompts,
            decoding=settings.decoding.by_role(),
            max_roster_attempts=retries.max_roster_attempts,
            max_message_attempts=retries.max_message_attempts,
            retry_temperature=retries.retry_temperature,
            share_identical_inputs=settings.replay.share_identical_inputs,
        )

    def request(
        self, role: Role, turns: tuple[Turn, ...], schema: Mapping[str, Any], draw: str = ""
    ) -> Request:
        """Return a first request of a role."""
        return Request(role, turns, self.decoding[role], schema, draw)

    def again(self, request: Request, attempt: int) -> Request:
        """Return the same request as a new draw: its ``attempt``-th, counted from 1."""
        if attempt == 1:
            return request
        decoding = request.decoding
        if self.retry_temperature is not None:
            decoding = replace(decoding, temperature=self.retry_temperature)
        draw = f"{request.draw}/attempt={attempt}".lstrip("/")
        return replace(request, decoding=decoding, draw=draw)
