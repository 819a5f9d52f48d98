"""Settings of the models in ``config/models.yaml``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from dhd.config.strict import Strict
from dhd.requests import ModelIdentity
from dhd.simulation.settings import (
    DifficultySettings,
    FormatSettings,
    LengthSettings,
    MessageSettings,
    VerdictSettings,
)
from dhd.simulation.world import World

Fraction = Annotated[float, Field(ge=0, le=1)]


class VllmModel(Strict):
    """A model that vLLM runs inside the job (offline)."""

    engine: Literal["vllm"]
    path: str = Field(min_length=1, description="Local folder or Hugging Face repository.")
    revision: str = Field("", description="Pinned commit of the repository; empty for a folder.")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    max_model_len: int = Field(gt=0, description="Context length in tokens.")
    max_in_flight: int = Field(256, gt=0, description="Requests in the engine at a time.")
    tensor_parallel_size: int = Field(1, gt=0, description="GPUs of one engine.")
    engines_per_node: int | None = Field(
        None, gt=0, description="Engines side by side on one node; null: as many as its GPUs hold."
    )
    structured_output: bool = Field(True, description="Constrain outputs to the JSON schema.")
    reasoning_parser: str | None = Field(None, description="vLLM's parser, e.g. openai_gptoss.")
    chat_template_kwargs: dict[str, Any] = Field(
        default_factory=dict, description="E.g. reasoning_effort, enable_thinking."
    )
    engine_args: dict[str, Any] = Field(
        default_factory=dict, description="Further arguments of vllm.LLM, passed as they are."
    )
    env: dict[str, str] = Field(
        default_factory=dict, description="Environment variables set before vLLM is imported."
    )

    def identity(self) -> ModelIdentity:
        """Return what distinguishes this model's answers; batch size and GPUs do not."""
        return ModelIdentity(
            name=self.path,
            revision=self.revision,
            settings={
                "dtype": self.dtype,
                "structured_output": self.structured_output,
                "reasoning_parser": self.reasoning_parser,
                "chat_template_kwargs": self.chat_template_kwargs,
            },
        )


class OpenAIModel(Strict):
    """A model behind an OpenAI-compatible endpoint."""

    engine: Literal["openai"]
    base_url: str = Field(description="Up to and including /v1.")
    name: str = Field(min_length=1, description="Model name that the endpoint knows.")
    api_key_env: str | None = Field(None, description="Environment variable that holds the key.")
    max_in_flight: int = Field(32, gt=0, description="Concurrent requests.")
    timeout_s: float = Field(600.0, gt=0)
    max_tries: int = Field(6, gt=0, description="Tries per request within one run.")
    structured_output: bool = True
    send_seed: bool = Field(True, description="Send the request's seed; some endpoints refuse it.")
    extra_body: dict[str, Any] = Field(default_factory=dict)

    @field_validator("base_url")
    @classmethod
    def _http_only(cls, value: str) -> str:
        if not value.startswith(("http://", "https://")):
            raise ValueError("must start with http:// or https://")
        if "@" in value.split("/")[2]:
            raise ValueError("holds a user or password; a key comes from api_key_env")
        return value.rstrip("/")

    def identity(self) -> ModelIdentity:
        """Return what distinguishes this model's answers; the address does not."""
        return ModelIdentity(
            name=self.name,
            settings={"structured_output": self.structured_output, "extra_body": self.extra_body},
        )


class ScriptedModel(Strict):
    """A deterministic stand-in for tests: answers follow from the content key alone."""

    engine: Literal["scripted"]
    name: str = Field("scripted", min_length=1)
    max_in_flight: int = Field(256, gt=0)
    latency_s: float = Field(0.0, ge=0, description="Time that one poll takes.")
    engines_per_node: int | None = Field(
        None, gt=0, description="Engines that a job starts on each node; null: one in its process."
    )
    failed_rate: Fraction = 0.0
    invalid_rate: Fraction = 0.0
    truncated_rate: Fraction = 0.0

    def identity(self) -> ModelIdentity:
        """Return the name alone: latency does not change answers."""
        return ModelIdentity(
            name=self.name,
            settings={
                "failed": self.failed_rate,
                "invalid": self.invalid_rate,
                "truncated": self.truncated_rate,
            },
        )


class SimulatedModel(Strict):
    """A latent-variable model of answers, at the speed of the pipeline; see `dhd.simulation`."""

    engine: Literal["simulated"]
    name: str = Field("simulated", min_length=1)
    max_in_flight: int = Field(512, gt=0)
    latency_s: float = Field(0.0, ge=0, description="Time that one poll takes.")
    difficulty: DifficultySettings = DifficultySettings()
    messages: MessageSettings = MessageSettings()
    replay_noise: float = Field(
        1.0, ge=0, description="Logistic scale of one integrator call, in logits; 0 repeats itself."
    )
    verdicts: VerdictSettings = VerdictSettings()
    format: FormatSettings = FormatSettings()
    lengths: LengthSettings = LengthSettings()

    def identity(self) -> ModelIdentity:
        """Return name and parameters; batch size and latency do not change answers."""
        return ModelIdentity(
            name=self.name,
            settings=self.model_dump(
                mode="json", exclude={"engine", "name", "max_in_flight", "latency_s"}
            ),
        )

    def world(self) -> World:
        """Return what is true of problems and messages for this model."""
        return World(self.name, self.difficulty, self.messages, self.replay_noise)


ModelSettings = Annotated[
    VllmModel | OpenAIModel | ScriptedModel | SimulatedModel, Field(discriminator="engine")
]
