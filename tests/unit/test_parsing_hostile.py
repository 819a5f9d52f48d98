"""Hostile text: parsers never raise, never take long, and give UTF-8 back."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dhd.messages import FIELD_NAMES
from dhd.parsing import final_text, parse_message, parse_roster, parse_verdict

MEGABYTE = 1_000_000
SEEDS = [
    *("{", "[", "}", '"', "'", "“", "`", "\\", "*", "#", "-", "<", "(", ".", ":", "|", "\n", "1"),
    *('{"', '{"a":', "{a:", "{a:x ", '{"a":/*', "{'a':", "{'a': '", '[{"a":1},', '{"a":1}', "{ "),
    *('{"a":#', '{"a":"\\', "<think>", "<think>\n", "</think>", "<|channel|>", "<|return|>"),
    *("<|channel|>final<|message|>", "<|channel|>final<|message|>x<|end|>", "assistantfinal"),
    *("</s>", "```\n", "```x`", '"x ', " 'x", "**x", "1. x\n", "- x\n", "- ", "aA", "1.", "{x}"),
    *("proposed_answer: x\n", "Verdict:", "Verdict: PASS,", "Verdict: PASS\n", "PASS or ", "the "),
    *("verdict is ", "a says:\n", "says. ", "not ", "\u200b", "\u2028", "\x00", "é", "\ud800"),
]
PARSERS = [final_text, parse_message, parse_roster, parse_verdict]


@pytest.mark.parametrize(
    "seed", ["{", "[", "\\", "<think>", "</think>", '{"a":', '"', "</s>", "<|channel|>", "\n", " x"]
)
def test_a_megabyte_is_read_in_less_than_a_second(seed: str) -> None:
    text = seed * (MEGABYTE // len(seed))
    for parse in PARSERS:
        for hostile in (text, f'{{"proposed_answer": "{text}"}}'):
            begin = time.thread_time()
            parse(hostile)
            assert time.thread_time() - begin < 1


@pytest.mark.parametrize("seed", SEEDS)
def test_time_grows_no_faster_than_the_text(seed: str) -> None:
    def spent(parse: Callable[[str], object], size: int) -> float:
        text = f"x {seed * (size // len(seed))} x"
        begin = time.thread_time()
        parse(text)
        return time.thread_time() - begin

    def is_linear(parse: Callable[[str], object]) -> bool:
        # Eight times the text takes 8 times as long, or 64 times where time is quadratic.
        return spent(parse, 24_000) < 24 * spent(parse, 3_000) + 0.005

    for parse in PARSERS:
        assert any(is_linear(parse) for _ in range(3))


SNIPPETS = st.lists(
    st.one_of(st.sampled_from(SEEDS), st.sampled_from(FIELD_NAMES), st.text(max_size=8)),
    max_size=30,
).map("".join)


@settings(max_examples=400, deadline=None)
@given(SNIPPETS, st.sampled_from([None, "stop", "length"]))
def test_any_text_gives_a_consistent_outcome(text: str, finish_reason: str | None) -> None:
    message = parse_message(text, finish_reason=finish_reason)
    assert (message.status == "ok") == (message.reason is None)
    assert (message.status == "ok") == bool(message.fields.proposed_answer)
    for name in FIELD_NAMES:
        value = getattr(message.fields, name)
        assert value is None or value == value.strip() != ""
    roster = parse_roster(text, finish_reason=finish_reason)
    assert (roster.status == "ok") == (roster.reason is None) == (len(roster.roles) == 5)
    verdict = parse_verdict(text, finish_reason=finish_reason)
    assert (verdict.correct is None) == (verdict.reason is not None)


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\\")))
def test_answers_come_back_as_they_are(answer: str) -> None:
    parsed = parse_message(json.dumps({"key_idea": "k", "proposed_answer": f"x{answer}x"}))
    assert parsed.fields.proposed_answer == f"x{answer}x"


@given(st.text())
def test_values_are_always_utf8(answer: str) -> None:
    parsed = parse_message('{"proposed_answer": "x' + answer.replace('"', "") + '\\ud83d"}')
    (parsed.fields.proposed_answer or "").encode("utf-8")
