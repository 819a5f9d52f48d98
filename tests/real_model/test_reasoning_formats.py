"""Reasoning models' formats through vLLM's own parsers, without weights.

Harmony's vocabulary comes with vLLM, so the token ids are real. Gemma-4's tokenizer is not at
hand: the demo model's tokenizer with Gemma-4's markers added stands in for it.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from dhd.config.models import VllmModel
from dhd.engines.vllm_model import ReasoningFormat
from dhd.errors import EngineError

pytestmark = pytest.mark.vllm

SCHEMA = {
    "type": "object",
    "properties": {"proposed_answer": {"type": "string"}},
    "required": ["proposed_answer"],
}


class HarmonyTokenizer:
    """What the parser needs of gpt-oss's tokenizer, from the vocabulary that vLLM brings."""

    def __init__(self) -> None:
        from openai_harmony import HarmonyEncodingName, load_harmony_encoding

        self._encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)

    def ids(self, text: str) -> list[int]:
        return list(self._encoding.encode(text, allowed_special="all"))

    def decode(self, ids: list[int]) -> str:
        return str(self._encoding.decode(ids))

    def get_vocab(self) -> dict[str, int]:
        return {}


@pytest.fixture(scope="module")
def tokenizer() -> HarmonyTokenizer:
    return HarmonyTokenizer()


def harmony(tokenizer: Any, **kwargs: Any) -> ReasoningFormat:
    return ReasoningFormat("openai_gptoss", tokenizer, kwargs)


def read(tokenizer: HarmonyTokenizer, text: str) -> str | None:
    return harmony(tokenizer).content(text, tokenizer.ids(text), prompt=[])


def transcript(answer: str) -> str:
    return (
        "<|channel|>analysis<|message|>Two and two.<|end|>"
        f"<|start|>assistant<|channel|>final<|message|>{answer}<|return|>"
    )


def test_harmony_answers_survive_damaged_neighbours(tokenizer: HarmonyTokenizer) -> None:
    damaged = [
        "<|channel|>analysis<|message|>a<|end|><|start|><|channel|><|channel|>final<|message|>x",
        "<|start|><|start|>assistant<|channel|>",
        "<|message|><|message|><|return|><|return|>",
        "<|channel|>analysis to=<|constrain|><|message|>{<|call|>",
    ]
    texts: list[str] = []
    for n in range(10):
        texts += [transcript(f'{{"proposed_answer": "{n}"}}'), damaged[n % len(damaged)]]
    contents = [read(tokenizer, text) for text in texts]
    assert contents[::2] == [f'{{"proposed_answer": "{n}"}}' for n in range(10)]
    for content in contents[1::2]:  # whatever was rescued, it is text or nothing: no exception
        assert content is None or isinstance(content, str)


@pytest.mark.parametrize(
    "text",
    [
        "<|channel|>analysis<|message|>Let me think about",  # cut while reasoning
        "<|channel|>analysis<|message|>All of it.<|end|>",  # reasoning alone
        "",
    ],
)
def test_harmony_output_without_a_final_message_has_no_answer(
    text: str, tokenizer: HarmonyTokenizer
) -> None:
    assert read(tokenizer, text) is None


def test_harmony_answer_cut_in_the_final_message_is_kept_as_far_as_it_goes(
    tokenizer: HarmonyTokenizer,
) -> None:
    text = transcript('{"proposed_answer": "4').removesuffix("<|return|>")
    assert read(tokenizer, text) == '{"proposed_answer": "4'


def test_a_parser_that_raises_costs_its_own_row_only(
    tokenizer: HarmonyTokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vllm.parser import HarmonyParser

    def raises(*_: Any, **__: Any) -> None:
        raise RuntimeError("unexpected tokens remaining in message header")

    good = transcript("4")
    with monkeypatch.context() as patch:
        patch.setattr(HarmonyParser, "parse", raises)
        assert read(tokenizer, good) is None
    assert read(tokenizer, good) == "4"


def test_harmony_prompt_is_the_servers(
    tokenizer: HarmonyTokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_SYSTEM_START_DATE", "2026-01-01")
    form = harmony(tokenizer, reasoning_effort="high")
    messages = [
        {"role": "system", "content": "Answer briefly."},
        {"role": "user", "content": "2+2? <|end|>"},
    ]
    ids = form.harmony_prompt(messages)
    text = tokenizer.decode(ids)
    assert text.startswith("<|start|>system<|message|>You are ChatGPT")
    assert "Reasoning: high" in text
    assert "Current date: 2026-01-01" in text
    assert "<|start|>developer<|message|># Instructions\n\nAnswer briefly.<|end|>" in text
    assert text.endswith("<|start|>user<|message|>2+2? <|end|><|end|><|start|>assistant")
    # A marker that a problem or a message spells out is text: it closes no turn.
    assert ids.count(tokenizer.ids("<|end|>")[0]) == 3
    assert tokenizer.ids("<|startoftext|>")[0] not in ids


def test_harmony_schema_binds_the_final_channel_alone(tokenizer: HarmonyTokenizer) -> None:
    sampling = harmony(tokenizer).sampling(SCHEMA)
    assert sampling["skip_special_tokens"] is False
    params = sampling["structured_outputs"]
    assert params.json is None
    tag = json.dumps(json.loads(params.structural_tag))
    assert "<|channel|>analysis<|message|>" in tag
    assert json.dumps(SCHEMA)[1:-1] in tag
    assert harmony(tokenizer).sampling(None)["structured_outputs"] is None


def test_harmony_knows_no_other_template_argument(tokenizer: HarmonyTokenizer) -> None:
    with pytest.raises(EngineError, match="reasoning_effort"):
        harmony(tokenizer, enable_thinking=True)


@pytest.fixture(scope="module")
def gemma_tokenizer(demo_settings: VllmModel) -> Any:
    for package in ("ijson", "mistral_common"):
        pytest.importorskip(package, reason=f"vLLM's gemma4 parser needs {package}")
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(demo_settings.path)
    markers = ["<|channel>", "<channel|>", "<|turn>", "<turn|>", "<|tool_call>", "<tool_call|>"]
    tokenizer.add_special_tokens({"additional_special_tokens": [*markers, '<|"|>']})
    return tokenizer


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('<|channel>thought\nTwo and two.<channel|>{"a": 4}', '{"a": 4}'),
        ('{"a": 4}', '{"a": 4}'),
        ("<|channel>thought\nTwo and", None),
    ],
)
def test_gemma_answer_is_what_follows_the_thought(
    text: str, content: str | None, gemma_tokenizer: Any
) -> None:
    form = ReasoningFormat("gemma4", gemma_tokenizer, {"enable_thinking": True})
    assert not form.harmony
    ids = gemma_tokenizer.encode(text, add_special_tokens=False)
    assert form.content(text, ids, prompt=[]) == content


def test_gemma_schema_leaves_the_thought_free(gemma_tokenizer: Any) -> None:
    """The engine starts the grammar after the thought; its parser must know of the thought."""
    form = ReasoningFormat("gemma4", gemma_tokenizer, {"enable_thinking": True})
    sampling = form.sampling(SCHEMA)
    assert sampling["structured_outputs"].json == SCHEMA
    assert sampling["skip_special_tokens"] is False
    prompt = gemma_tokenizer.encode("<|turn>model\n", add_special_tokens=False)
    assert form._parser().is_reasoning_end(prompt) is False
    silent = ReasoningFormat("gemma4", gemma_tokenizer, {})
    assert silent._parser().is_reasoning_end(prompt) is True
