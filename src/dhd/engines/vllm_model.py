"""A model loaded by vLLM: the only module that imports vLLM, and where its versions may differ.

What was run: vLLM 0.32.0, CPU build, with SmolLM2-135M-Instruct in float32, in one process and
tensor parallel. No weights of gpt-oss or Gemma-4 were at hand: rendering, constraining and
parsing in the Harmony format were tested with real token ids of its vocabulary, Gemma-4's
reasoning parser with a stand-in tokenizer, CUDA not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dhd.config.models import VllmModel
from dhd.engines.processes import refuse_busy_gpus
from dhd.engines.vllm_rules import (
    apply_environment,
    check_bos,
    check_version,
    end_tokens,
    engine_args,
    is_cpu_build,
)
from dhd.errors import EngineError
from dhd.requests import Request, Turn, seed_of

_HARMONY = "openai_gptoss"


class LoadedModel:
    """A model loaded by vLLM, with its tokenizer and parser; used from one thread."""

    def __init__(self, settings: VllmModel) -> None:
        cpu = is_cpu_build()
        apply_environment(settings, cpu=cpu)
        import vllm  # only now: OpenMP and vLLM read the environment when they are imported

        check_version(vllm.__version__)
        if not cpu:
            refuse_busy_gpus()
        try:
            llm = vllm.LLM(**engine_args(settings, cpu=cpu))
        except Exception as error:
            raise EngineError(
                f"vLLM {vllm.__version__} could not load {settings.path!r} "
                f"(a folder, or a repository in the local Hugging Face cache): {error}"
            ) from error
        self._llm = llm
        self._engine = llm.llm_engine
        config = llm.model_config
        self._tokenizer = llm.get_tokenizer()
        self._template_kwargs = settings.chat_template_kwargs
        self._constrained = settings.structured_output
        self.max_model_len: int = config.max_model_len
        self.end_tokens = end_tokens(
            config.try_get_generation_config() or {}, self._tokenizer.eos_token_id
        )
        self._reasoning = None
        if settings.reasoning_parser:
            self._reasoning = ReasoningFormat(
                settings.reasoning_parser, self._tokenizer, settings.chat_template_kwargs
            )
        elif config.hf_config.model_type == "gpt_oss":
            raise EngineError(
                f"{settings.path} speaks Harmony: set 'reasoning_parser: {_HARMONY}' for it"
            )
        self._check_prompt()

    def _check_prompt(self) -> None:
        try:
            prompt = self.prompt((Turn("system", "a"), Turn("user", "b")))
        except Exception as error:
            raise EngineError(
                f"the model's chat template cannot render a system and a user turn: {error}"
            ) from error
        plain = self._tokenizer.encode("b")
        check_bos(prompt, plain, self._tokenizer.bos_token_id)

    def prompt(self, turns: Sequence[Turn]) -> list[int]:
        """Return the token ids of a chat; ids, not text, so that nothing adds a second BOS."""
        messages = [{"role": turn.role, "content": turn.content} for turn in turns]
        if self._reasoning is not None and self._reasoning.harmony:
            return self._reasoning.harmony_prompt(messages)
        ids = self._tokenizer.apply_chat_template(
            messages,
            tokenize=True,
            add_generation_prompt=True,
            return_dict=False,
            **self._template_kwargs,
        )
        return list(ids)

    def add(self, key: str, prompt: list[int], request: Request, max_tokens: int) -> None:
        """Give a request to the engine; raises what the engine raises for a bad one."""
        from vllm import SamplingParams
        from vllm.inputs import tokens_input
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

        schema = request.json_schema if self._constrained else None
        extra: dict[str, Any] = {}
        if self._reasoning is not None:
            extra = self._reasoning.sampling(schema)
        elif schema is not None:
            extra = {"structured_outputs": StructuredOutputsParams(json=dict(schema))}
        params = SamplingParams(
            temperature=request.decoding.temperature,
            top_p=request.decoding.top_p,
            max_tokens=max_tokens,
            seed=seed_of(key),
            output_kind=RequestOutputKind.FINAL_ONLY,
            **extra,
        )
        item = tokens_input(prompt)
        if self._reasoning is None:
            self._engine.add_request(key, item, params)
            return
        # As vLLM's server does: the engine's own copy of the parser decides from the template's
        # arguments whether reasoning comes first; without them Gemma-4 would be constrained
        # from its first token on and could not think.
        ready = self._engine.input_processor.process_inputs(
            key, item, params, supported_tasks=self._engine.get_supported_tasks()
        )
        ready.reasoning_parser_kwargs = {"chat_template_kwargs": self._template_kwargs}
        self._engine.add_request(key, ready, ready.params)

    def step(self) -> list[Any]:
        """Advance all requests by one step and return the outputs of those that finished."""
        try:
            return [output for output in self._engine.step() if output.finished]
        except Exception as error:
            raise EngineError(f"vLLM stopped working: {type(error).__name__}: {error}") from error

    def content(self, text: str, tokens: Sequence[int], prompt: Sequence[int]) -> str | None:
        """Return what an output says after its reasoning; None where there is nothing."""
        if self._reasoning is None:
            return text
        return self._reasoning.content(text, tokens, prompt)

    def shutdown(self) -> None:
        """Release the model's memory and stop its workers."""
        from vllm.distributed import cleanup_dist_env_and_memory

        self._engine.engine_core.shutdown()
        del self._engine, self._llm
        cleanup_dist_env_and_memory()


class ReasoningFormat:
    """How a reasoning model's answer is constrained and read, by vLLM's own parsers.

    Parameters
    ----------
    name
        vLLM's name of the parser; ``openai_gptoss`` is Harmony, whose prompts are rendered
        by vLLM's server code and not by a chat template.
    tokenizer
        The model's tokenizer.
    template_kwargs
        ``chat_template_kwargs`` of the model; for Harmony only ``reasoning_effort``.
    """

    def __init__(self, name: str, tokenizer: Any, template_kwargs: Mapping[str, Any]) -> None:
        from vllm.parser import ParserManager

        self.harmony = name == _HARMONY
        self._tokenizer = tokenizer
        self._kwargs = dict(template_kwargs)
        if self.harmony and set(self._kwargs) - {"reasoning_effort"}:
            raise EngineError(
                f"chat_template_kwargs {sorted(self._kwargs)}: a Harmony model knows "
                "'reasoning_effort' only"
            )
        try:
            self._parser_class = ParserManager.get_parser(
                reasoning_parser_name=name, is_harmony=self.harmony, tokenizer=tokenizer
            )
        except TypeError as error:
            raise EngineError(
                f"reasoning_parser {name!r}: {error}; if vLLM has a parser of this name, a package "
                "that it needs is missing (gemma4 needs ijson and mistral_common): see vLLM's log"
            ) from error

    def _parser(self) -> Any:
        return self._parser_class(self._tokenizer, None, chat_template_kwargs=self._kwargs)

    def _chat_request(self, schema: Mapping[str, Any] | None) -> Any:
        from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest

        form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
        return ChatCompletionRequest(messages=[], response_format=form if schema else None)

    def harmony_prompt(self, messages: list[dict[str, str]]) -> list[int]:
        """Return the token ids of a chat in the Harmony format, as vLLM's server renders it."""
        from vllm.entrypoints.openai.parser import harmony_utils

        instructions, rest = harmony_utils.extract_instructions_from_messages(messages)
        preamble = harmony_utils.build_harmony_preamble(
            instructions=instructions, reasoning_effort=self._kwargs.get("reasoning_effort")
        )
        return list(
            harmony_utils.render_for_completion(
                preamble + harmony_utils.parse_chat_inputs_to_harmony_messages(rest)
            )
        )

    def sampling(self, schema: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the arguments of ``SamplingParams`` that constrain the answer to ``schema``.

        A schema binds the answer, not the reasoning: for Harmony the parser rewrites it into a
        structural tag over both channels. Special tokens stay in the text, since the parser
        and a reader of ``raw`` need them.
        """
        request = self._parser().adjust_request(self._chat_request(schema))
        return {
            "structured_outputs": request.extract_structured_outputs(),
            "skip_special_tokens": False,
        }

    def content(self, text: str, tokens: Sequence[int], prompt: Sequence[int]) -> str | None:
        """Return an output's final text; None where it has none or the parser cannot read it."""
        parser = self._parser()
        parser.set_prompt_token_ids(list(prompt))
        try:
            _, content, _ = parser.parse(
                text, self._chat_request(None), model_output_token_ids=list(tokens)
            )
        except Exception:  # hostile text: the row keeps its raw output, the others are untouched
            return None
        return None if content is None else str(content)
