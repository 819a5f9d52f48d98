"""Parameters of a simulated model: the ``engine: simulated`` entries of the models file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dhd.config.strict import Strict
from dhd.requests import Role

Share = Annotated[float, Field(ge=0, le=1)]


class DifficultySettings(Strict):
    """How hard problems are for a model.

    A problem's level is ``spread`` times a standard normal number around the benchmark's mean;
    above zero the model solves it on its own. All settings here but ``spread`` are in standard
    deviations of that number.
    """

    ability: dict[str, float] = Field(
        default={"default": 0.7},
        description="Mean by benchmark; `default` for others. 0.7 solves 76 % of the problems.",
    )
    spread: float = Field(8.0, gt=0, description="Logits of one standard deviation of level.")
    common: Share = Field(
        0.6, description="Correlation of a problem's levels for two models: what all find hard."
    )
    stratum_slope: float = Field(
        1.0, description="What an Omni-MATH-2 tier ten steps harder takes off the level."
    )


class MessageSettings(Strict):
    """What hypothesizers write and what their messages are worth to an integrator.

    A message shifts the integrator's logit by an answer part and a reasoning part; the shifts
    of a pool are summed and divided by (messages shown) ** ``dilution``.
    """

    ability_shift: float = Field(
        -0.2, description="A hypothesizer's level against the solver's, in standard deviations."
    )
    noise: float = Field(3.0, gt=0, description="Logistic scale of one message's draw, in logits.")
    answer_pull: float = Field(
        1.5, ge=0, description="Logits towards right by a shown right answer, and back by a wrong."
    )
    weighty: Share = Field(0.15, description="Share of messages whose reasoning has real weight.")
    reasoning_mean: float = Field(0.3, description="Mean shift of weighty reasoning, in logits.")
    reasoning_sd: float = Field(6.0, ge=0, description="Its standard deviation, in logits.")
    light_sd: float = Field(0.3, ge=0, description="Standard deviation of all other reasoning.")
    common: Share = Field(
        0.5, description="Correlation of one message's shift for two integrators."
    )
    dilution: float = Field(0.5, ge=0, le=1, description="0 adds shifts up, 1 averages them.")
    rejection_pull: float = Field(
        1.0, ge=0, description="Logits towards right by every rejected answer that is listed."
    )
    follow: Share = Field(
        0.8, description="Share of wrong integrator answers taken from a wrong message shown."
    )


class VerdictSettings(Strict):
    """Errors of a model as evaluator."""

    false_pass: Share = Field(0.01, description="Wrong submissions that pass.")
    false_fail: Share = Field(0.01, description="Right submissions that fail.")


class FormatSettings(Strict):
    """Outputs that are not as asked, as shares of calls."""

    failed: Share = Field(0.0, description="No output at all; the same call fails in every run.")
    truncated: Share = Field(0.0, description="Cut at the token limit.")
    invalid: Share = Field(0.0, description="Prose instead of the JSON object.")
    no_answer: Share = Field(0.0, description="An integrator's object with an empty answer.")
    missing_field: Share = Field(0.0, description="A message's text field that is left out.")
    other_form: Share = Field(0.1, description="Right answers written in another form.")
    loose_json: Share = Field(0.0, description="Objects in a code fence with a sentence before.")


class LengthSettings(Strict):
    """Mean output tokens of each role, reasoning included; single calls vary around them."""

    recruiter: int = Field(600, gt=0, description="Mean tokens of a roster.")
    hypothesizer: int = Field(1800, gt=0, description="Mean tokens of a message.")
    integrator: int = Field(1600, gt=0, description="Mean tokens of all other solving calls.")
    evaluator: int = Field(250, gt=0, description="Mean tokens of a verdict.")
    sd: float = Field(0.5, ge=0, description="Standard deviation of the logarithm of a length.")
    text_chars: int = Field(
        0, ge=0, description="Least characters of a free-text field; short texts are repeated."
    )

    def of(self, role: Role) -> int:
        """Return the mean length of a role's outputs; other roles write like integrators."""
        return int(getattr(self, role, self.integrator))
