"""What a plan assumes of models: lengths of outputs, rates, throughput."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from dhd.config.reading import read_settings
from dhd.config.strict import Strict
from dhd.simulation.settings import FormatSettings, LengthSettings, Share


class Throughput(Strict):
    """Tokens that one engine takes in and puts out in a second, with a full batch."""

    prompt_tokens_per_s: float = Field(20_000, gt=0, description="Prompt tokens computed.")
    output_tokens_per_s: float = Field(2_500, gt=0, description="Tokens generated.")


class Assumptions(Strict):
    """The plan's assumptions; a file such as ``config/planning.yaml`` replaces any of them.

    Simulated models need none of the first four: they are asked themselves.
    """

    characters_per_token: float = Field(4.0, gt=0, description="Of prompts.")
    accuracy: Share = Field(0.75, description="Share of submissions that are right.")
    lengths: LengthSettings = LengthSettings(text_chars=250)
    format: FormatSettings = FormatSettings(truncated=0.005, invalid=0.01)
    undecided: Share = Field(
        0.1, description="Share of submissions that rules leave to the evaluator (rules_then_llm)."
    )
    cached: Share = Field(
        0.5, description="Share of prompt tokens found in the prefix cache, so not computed."
    )
    throughput: dict[str, Throughput] = Field(
        default_factory=dict,
        description="By key of the models file; `default` for models that are not named.",
    )

    def throughput_of(self, model: str) -> Throughput:
        """Return the throughput of one engine of a model."""
        return self.throughput.get(model, self.throughput.get("default", Throughput()))


def read_assumptions(path: Path | None) -> Assumptions:
    """Return the assumptions of a file, or the defaults.

    Raises
    ------
    ConfigError
        When the file is missing or has unknown keys or impossible values.
    """
    return Assumptions() if path is None else read_settings(Assumptions, path)
