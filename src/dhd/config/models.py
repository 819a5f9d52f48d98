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
_ENGINE = Field(
    description="vllm: in the job; openai: an OpenAI-compatible endpoint; simulated: outcomes "
    "drawn at random, for stand-in problems; scripted: for tests."
)


class VllmModel(Strict):
    """A model that vLLM runs inside the job (offline)."""

    engine: Literal["vllm"] = _ENGINE
    path: str = Field(min_length=1, description="Local folder or Hugging Face repository.")
    revision: str = Field("", description="Pinned commit of the repository; empty for a folder.")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto", description="Number format of the weights; auto: as the model's own files say."
    )
    max_model_len: int = Field(
        gt=0, description="Context length in tokens, prompt and output together."
    )
    max_in_flight: int = Field(256, gt=0, description="Requests in the engine at a time.")
    tensor_parallel_size: int = Field(1, gt=0, description="GPUs of one engine; 1 on a CPU.")
    engines_per_node: int | None = Field(
        None, gt=0, description="Engines side by side on one node; null: as many as its GPUs hold."
    )
    structured_output: bool = Field(
        True, description="Constrain outputs to the JSON schema; false: read what comes."
    )
    reasoning_parser: str | None = Field(
        None, description="vLLM's parser of reasoning, e.g. openai_gptoss; null: none."
    )
    chat_template_kwargs: dict[str, Any] = Field(
        default={}, description="Arguments of the chat template, e.g. {enable_thinking: true}."
    )
    engine_args: dict[str, Any] = Field(
        default={}, description="Further arguments of vllm.LLM, passed as they are."
    )
    env: dict[str, str] = Field(
        default={}, description="Environment variables set before vLLM is imported."
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

    engine: Literal["openai"] = _ENGINE
    base_url: str = Field(description="Address, http(s)://…, up to and including /v1.")
    name: str = Field(min_length=1, description="Model name that the endpoint knows.")
    api_key_env: str | None = Field(
        None, description="Name of the environment variable that holds the key; null: no key."
    )
    max_in_flight: int = Field(32, gt=0, description="Requests at the endpoint at a time.")
    timeout_s: float = Field(600.0, gt=0, description="Seconds to wait for one answer.")
    max_tries: int = Field(6, gt=0, description="Tries of a request within one run.")
    structured_output: bool = Field(
        True, description="Ask for outputs by the JSON schema; false: read what comes."
    )
    send_seed: bool = Field(True, description="Send the request's seed; some endpoints refuse it.")
    extra_body: dict[str, Any] = Field(
        default={}, description="Further keys of each request's body, sent as they are."
    )

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

    engine: Literal["scripted"] = _ENGINE
    name: str = Field("scripted", min_length=1, description="Name; answers follow from it.")
    max_in_flight: int = Field(256, gt=0, description="Requests in the engine at a time.")
    latency_s: float = Field(0.0, ge=0, description="Seconds that one poll takes.")
    engines_per_node: int | None = Field(
        None, gt=0, description="Engines that a job starts on each node; null: one in its process."
    )
    failed_rate: Fraction = Field(0.0, description="Share of requests that fail.")
    invalid_rate: Fraction = Field(0.0, description="Share of outputs that cannot be read.")
    truncated_rate: Fraction = Field(0.0, description="Share of outputs cut at the token limit.")

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

    engine: Literal["simulated"] = _ENGINE
    name: str = Field("simulated", min_length=1, description="Name; answers follow from it.")
    max_in_flight: int = Field(512, gt=0, description="Requests in the engine at a time.")
    latency_s: float = Field(0.0, ge=0, description="Seconds that one poll takes.")
    difficulty: DifficultySettings = Field(
        DifficultySettings(), description="How hard problems are for this model."
    )
    messages: MessageSettings = Field(
        MessageSettings(), description="What its messages say and are worth."
    )
    replay_noise: float = Field(
        1.0, ge=0, description="Logistic scale of one integrator call, in logits; 0 repeats itself."
    )
    verdicts: VerdictSettings = Field(VerdictSettings(), description="Its errors as evaluator.")
    format: FormatSettings = Field(
        FormatSettings(), description="Its outputs that are not as asked."
    )
    lengths: LengthSettings = Field(LengthSettings(), description="Its outputs' lengths.")

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
