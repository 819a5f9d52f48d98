"""The scripted engine: answers follow from the key, in the form that the request asks for."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import subprocess
import sys
import time
from collections import Counter
from typing import Any

import pytest

from dhd.config.models import ScriptedModel
from dhd.engines.base import Engine
from dhd.engines.scripted import ScriptedEngine, scripted_text
from dhd.parsing import parse_message, parse_roster, parse_verdict
from dhd.requests import Completion, Decoding, Request, Role, Turn


def key_of(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()[:32]


def request(role: Role, schema: dict[str, Any] | None = None, max_tokens: int = 4096) -> Request:
    return Request(role, (Turn("user", "x" * 401),), Decoding(0.0, max_tokens), schema)


def engine(**changes: Any) -> ScriptedEngine:
    return ScriptedEngine(ScriptedModel(engine="scripted", **changes))


def ask(running: Engine, one: Request, numbers: range) -> dict[str, Completion]:
    async def run() -> dict[str, Completion]:
        await running.start()
        for number in numbers:
            running.submit(key_of(number), one)
        answered: dict[str, Completion] = {}
        while len(answered) < len(numbers):
            for completion in await running.poll():
                assert completion.key not in answered
                answered[completion.key] = completion
        await running.close()
        await running.close()
        return answered

    return asyncio.run(run())


def obj(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


TEXT = {"type": "string"}
FIELDS = obj(reasoning_direction=TEXT, proposed_answer=TEXT, confidence=TEXT)
ROLES = obj(roles={"type": "array", "items": TEXT, "minItems": 5, "maxItems": 5})
ROLE_OBJECTS = obj(roles={"type": "array", "items": obj(name=TEXT, lens=TEXT)})
VERDICT = obj(
    verdict={"type": "string", "enum": ["PASS", "FAIL"]},
    correctness={"type": "integer", "enum": [1, 0]},
)


def test_answers_do_not_depend_on_order_or_batch() -> None:
    one = request("hypothesizer")
    forward = ask(engine(failed_rate=0.2, max_in_flight=7), one, range(60))
    backward = ask(engine(failed_rate=0.2), one, range(59, -1, -1))
    assert forward == backward


def test_answers_do_not_depend_on_the_process() -> None:
    code = (
        "from dhd.engines.scripted import scripted_text as s\n"
        "from dhd.requests import *\n"
        f"print(s({key_of(1)!r}, Request('integrator', (), Decoding(0.0, 9))), end='')"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == scripted_text(key_of(1), request("integrator"))


@pytest.mark.parametrize("schema", [None, ROLES, ROLE_OBJECTS])
def test_rosters_parse(schema: dict[str, Any] | None) -> None:
    for completion in ask(engine(), request("recruiter", schema), range(50)).values():
        parsed = parse_roster(completion.text)
        assert parsed.status == "ok"
        assert all(role.lens for role in parsed.roles)


@pytest.mark.parametrize("schema", [None, FIELDS])
def test_messages_parse(schema: dict[str, Any] | None) -> None:
    answered = ask(engine(), request("hypothesizer", schema), range(200)).values()
    parsed = [parse_message(completion.text) for completion in answered]
    assert {message.status for message in parsed} == {"ok"}
    answers = {message.fields.proposed_answer for message in parsed}
    assert answers == set("0123456789ABCD")
    assert all(message.fields.confidence for message in parsed)


@pytest.mark.parametrize("schema", [None, VERDICT])
def test_verdicts_parse_and_both_occur(schema: dict[str, Any] | None) -> None:
    answered = ask(engine(), request("evaluator", schema), range(100)).values()
    verdicts = Counter(parse_verdict(completion.text).correct for completion in answered)
    assert verdicts.keys() == {True, False}
    assert 30 < verdicts[True] < 70


def test_integrator_prose_ends_in_its_answer() -> None:
    for completion in ask(engine(), request("integrator"), range(20)).values():
        found = re.search(r"\\boxed\{(.)\}\.\nFinal answer: (.)$", completion.text or "")
        assert found is not None
        assert found[1] == found[2]


@pytest.mark.parametrize(
    ("answer", "allowed"),
    [
        ({"type": "string", "enum": ["A", "B", "C"]}, r"[ABC]"),
        ({"type": "string", "enum": ["A", "B", "A, B"]}, r"A|B|A, B"),
        ({"type": "string", "pattern": "^-?[0-9]{1,30}$"}, r"\d"),
        ({"type": "string", "pattern": "^[A-Z]$"}, r"[A-D]"),
        ({"type": "string", "pattern": "^[C-D]$"}, r"[CD]"),
        ({"type": "string", "pattern": "^[A-Z](, [A-Z]){1}$"}, r"[A-D], [A-D]"),
        ({"type": "string", "pattern": "^[A-Z](, [A-Z]){2}$"}, r"[A-D], [A-D], [A-D]"),
        ({"type": "string"}, r"[0-9A-D]"),
        ({"type": "integer"}, r"\d"),
    ],
)
def test_answer_follows_the_schema(answer: dict[str, Any], allowed: str) -> None:
    schema = obj(work=TEXT | {"maxLength": 20}, final_answer=answer)
    for completion in ask(engine(), request("integrator", schema), range(40)).values():
        document = json.loads(completion.text or "")
        assert list(document) == ["work", "final_answer"]
        assert re.fullmatch(allowed, str(document["final_answer"]))
        assert len(document["work"]) == 20


def test_pattern_without_a_short_answer_fails_that_request_alone() -> None:
    schema = obj(final_answer={"type": "string", "pattern": "^[x-z]{7}$"})
    (completion,) = ask(engine(), request("integrator", schema), range(1)).values()
    assert (completion.status, completion.reason) == ("failed", "scripted_no_answer")


def test_rates_are_kept_and_failures_are_permanent() -> None:
    unreliable = {"failed_rate": 0.2, "invalid_rate": 0.2, "truncated_rate": 0.2}
    one = request("hypothesizer")
    answered = ask(engine(**unreliable), one, range(2000))
    failed = [c for c in answered.values() if c.status == "failed"]
    answers = [c for c in answered.values() if c.status == "ok"]
    statuses = Counter(parse_message(c.text, finish_reason=c.finish_reason).status for c in answers)
    # Standard deviation of each share is 0.009.
    assert len(failed) / 2000 == pytest.approx(0.2, abs=0.04)
    assert statuses["truncated"] / len(answers) == pytest.approx(0.2, abs=0.04)
    assert statuses["invalid_format"] / len(answers) == pytest.approx(0.8 * 0.2, abs=0.04)
    assert {(c.reason, c.text) for c in failed} == {("scripted_failure", None)}
    again = ask(engine(**unreliable), one, range(2000))
    assert [c for c in again.values() if c.status == "failed"] == failed


def test_tokens_and_finish_reason() -> None:
    (completion,) = ask(engine(name="twin"), request("integrator"), range(1)).values()
    assert completion.prompt_tokens == 101  # 401 characters, four a token
    assert completion.cached_tokens == 0
    assert completion.completion_tokens == -(-len(completion.text or "") // 4)
    assert (completion.finish_reason, completion.answered_by) == ("stop", "twin")
    (cut,) = ask(engine(), request("integrator", max_tokens=3), range(1)).values()
    assert (cut.finish_reason, len(cut.text or "")) == ("length", 12)
    assert cut.completion_tokens == 3


def test_poll_answers_what_fits_and_waits_its_latency() -> None:
    async def run() -> tuple[list[int], float]:
        running = engine(max_in_flight=4, latency_s=0.02)
        for number in range(10):
            running.submit(key_of(number), request("evaluator"))
        begin = time.monotonic()
        sizes = [len(await running.poll()) for _ in range(4)]
        return sizes, time.monotonic() - begin

    sizes, spent = asyncio.run(run())
    assert sizes == [4, 4, 2, 0]
    assert 0.08 <= spent < 2


def test_answer_costs_little() -> None:
    begin = time.thread_time()
    ask(engine(max_in_flight=5000), request("hypothesizer", FIELDS), range(5000))
    assert (time.thread_time() - begin) / 5000 < 0.0002
