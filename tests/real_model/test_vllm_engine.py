"""The ``vllm`` engine with the real demo model (SmolLM2-135M-Instruct, float32, CPU)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from dhd.config.models import VllmModel
from dhd.engines.vllm import VllmEngine
from dhd.errors import EngineError
from dhd.requests import Completion, Decoding, KeyMaker, Request, Turn, seed_of

pytestmark = [
    pytest.mark.vllm,
    # vLLM still uses names that torch and xgrammar have renamed.
    pytest.mark.filterwarnings("ignore:`torch.distributed.reduce_op` is deprecated:FutureWarning"),
    pytest.mark.filterwarnings("ignore:max_rollback_tokens is deprecated:DeprecationWarning"),
]

CONTEXT = 256  # of the demo settings
CHOICE = {
    "type": "object",
    "properties": {
        "work": {"type": "string", "maxLength": 30},
        "answer": {"type": "string", "enum": ["red", "green"]},
    },
    "required": ["work", "answer"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def engine(demo_settings: VllmModel) -> Iterator[VllmEngine]:
    engine = VllmEngine(demo_settings)
    asyncio.run(engine.start())
    yield engine
    asyncio.run(engine.close())


def request(
    text: str,
    *,
    schema: Mapping[str, Any] | None = None,
    temperature: float = 0.7,
    max_tokens: int = 12,
    draw: str = "",
) -> Request:
    turns = (Turn("system", "You answer briefly."), Turn("user", text))
    return Request("hypothesizer", turns, Decoding(temperature, max_tokens), schema, draw)


def ask(engine: VllmEngine, requests: list[Request]) -> list[Completion]:
    """Return the completions in the order of the requests, which all run at the same time."""

    async def main() -> dict[str, Completion]:
        for key, one in zip(keys, requests, strict=True):
            engine.submit(key, one)
        got: dict[str, Completion] = {}
        while len(got) < len(keys):
            got |= {completion.key: completion for completion in await engine.poll()}
        return got

    maker = KeyMaker(engine.identity, 0)
    keys = [maker.key(one) for one in requests]
    assert len(set(keys)) == len(keys)
    got = asyncio.run(main())
    assert set(got) == set(keys)
    return [got[key] for key in keys]


def prompt_of(engine: VllmEngine, one: Request) -> list[int]:
    assert engine._model is not None
    return engine._model.prompt(one.turns)


def padded(engine: VllmEngine, tokens: int) -> Request:
    """Return a request with a prompt of ``tokens`` tokens; its answer has more than one."""
    bare = len(prompt_of(engine, request("word")))
    one = request("word" + " word" * (tokens - bare), schema=CHOICE)
    assert len(prompt_of(engine, one)) == tokens
    return one


def test_prompt_is_chatml_with_one_opening_token_per_turn(engine: VllmEngine) -> None:
    ids = prompt_of(engine, request("How many legs has a spider?"))
    assert engine._model is not None
    tokenizer = engine._model._tokenizer
    assert tokenizer.decode(ids) == (
        "<|im_start|>system\nYou answer briefly.<|im_end|>\n"
        "<|im_start|>user\nHow many legs has a spider?<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    assert ids.count(tokenizer.bos_token_id) == 3
    # Without a system turn the model's own template adds its default one.
    default = engine._model.prompt((Turn("user", "Hi"),))
    assert tokenizer.decode(default).startswith(
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, "
        "trained by Hugging Face<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
    )


def test_numbers_are_single_digits_apart_from_the_space_before(engine: VllmEngine) -> None:
    assert engine._model is not None
    tokenizer = engine._model._tokenizer
    pieces = [tokenizer.decode([token]) for token in tokenizer.encode("a\n\n12  3")]
    assert pieces == ["a", "\n\n", "1", "2", "  ", "3"]


def test_one_too_long_prompt_of_five_fails_alone(engine: VllmEngine) -> None:
    asked = [
        request("Name a colour."),
        request("Name an animal."),
        padded(engine, CONTEXT + 40),
        padded(engine, CONTEXT - 1),
        padded(engine, CONTEXT),
    ]
    colour, animal, over, one_left, exact = ask(engine, asked)
    assert colour.status == animal.status == one_left.status == "ok"
    assert colour.text
    assert (over.status, over.reason, over.text) == ("failed", "prompt_too_long", None)
    assert over.prompt_tokens == CONTEXT + 40
    assert (exact.status, exact.reason) == ("failed", "prompt_too_long")
    assert (one_left.completion_tokens, one_left.finish_reason) == (1, "length")
    assert one_left.prompt_tokens == CONTEXT - 1


def test_answers_do_not_depend_on_the_batch_and_equal_plain_generation(
    engine: VllmEngine,
) -> None:
    from vllm import SamplingParams

    asked = [request(f"Tell me about the number {n}.", draw="batch") for n in range(4)]
    together = ask(engine, asked)
    alone = [ask(engine, [one])[0] for one in asked]
    assert [one.text for one in alone] == [one.text for one in together]

    assert engine._model is not None
    plain = engine._model._llm.generate(
        [{"prompt_token_ids": prompt_of(engine, one)} for one in asked],
        [SamplingParams(temperature=0.7, max_tokens=12, seed=seed_of(one.key)) for one in together],
        use_tqdm=False,
    )
    assert [one.outputs[0].text for one in plain] == [one.text for one in together]
    assert [one.outputs[0].finish_reason for one in plain] == [
        one.finish_reason for one in together
    ]
    assert [len(one.outputs[0].token_ids) for one in plain] == [
        one.completion_tokens for one in together
    ]


def test_draws_differ_at_temperature_and_agree_without(engine: VllmEngine) -> None:
    text = "Write a short line about rain."
    warm = ask(engine, [request(text, draw=str(n)) for n in range(4)])
    assert len({one.text for one in warm}) > 1
    cold = ask(engine, [request(text, draw=str(n), temperature=0) for n in range(4)])
    assert len({one.text for one in cold}) == 1


def test_structured_output_is_valid_json_and_a_bad_schema_fails_alone(
    engine: VllmEngine,
) -> None:
    bad = {"type": "object", "properties": {"a": {"type": "string", "pattern": "(?<=x)y("}}}
    good = [request("Red or green?", schema=CHOICE, max_tokens=60, draw=str(n)) for n in range(3)]
    *valid, refused = ask(engine, [*good, request("Red or green?", schema=bad)])
    for one in valid:
        assert one.text is not None
        answer = json.loads(one.text)
        assert list(answer) == ["work", "answer"]
        assert answer["answer"] in {"red", "green"}
        assert one.finish_reason == "stop"
        assert one.raw is None
    assert refused.status == "failed"
    assert refused.reason is not None
    assert refused.reason.startswith("refused: ")


def test_cut_output_is_flagged(engine: VllmEngine) -> None:
    cut = ask(engine, [request("Red or green?", schema=CHOICE, max_tokens=3)])[0]
    assert (cut.status, cut.finish_reason, cut.completion_tokens) == ("ok", "length", 3)


def test_shared_prefixes_are_cached_and_the_model_is_named(
    engine: VllmEngine, demo_settings: VllmModel
) -> None:
    prefix = "The story of the lighthouse and the seven boats in the long winter storm. " * 3
    first = ask(engine, [request(prefix + "Who?")])[0]
    second = ask(engine, [request(prefix + "Where?")])[0]
    assert second.cached_tokens >= 32, "at least one block of the shared prefix"
    assert second.cached_tokens < second.prompt_tokens
    assert first.answered_by == demo_settings.path


def test_a_missing_model_is_an_error_that_names_it(engine: VllmEngine, tmp_path: Path) -> None:
    missing = tmp_path / "no-such-model"
    other = VllmEngine(VllmModel(engine="vllm", path=str(missing), max_model_len=64))
    with pytest.raises(EngineError, match="no-such-model"):
        asyncio.run(other.start())
    asyncio.run(other.close())


def test_an_unknown_reasoning_parser_is_an_error(engine: VllmEngine) -> None:
    from dhd.engines.vllm_model import ReasoningFormat

    assert engine._model is not None
    with pytest.raises(EngineError, match="no_such_parser"):
        ReasoningFormat("no_such_parser", engine._model._tokenizer, {})
