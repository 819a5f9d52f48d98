"""The openai engine against a real local HTTP server that misbehaves."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dhd.config.models import OpenAIModel
from dhd.engines.openai import Backoff, OpenAIEngine, _with_cut_flagged, request_body
from dhd.errors import EngineError
from dhd.requests import Completion, Decoding, Request, Turn, seed_of
from support.fake_endpoint import Endpoint, fake_endpoint

KEY_ENV = "DHD_TEST_ENDPOINT_KEY"
SECRET = "sk-0123456789abcdef-secret"
FAST = Backoff(first_s=0.005, most_s=0.05)
SCHEMA = {
    "type": "object",
    "properties": {"work": {"type": "string"}, "final_answer": {"enum": ["A", "B"]}},
}


def settings(endpoint: Endpoint | None, **changes: Any) -> OpenAIModel:
    base_url = "http://127.0.0.1:9/v1" if endpoint is None else endpoint.base_url
    values = {"engine": "openai", "base_url": base_url, "name": "m", "max_in_flight": 4}
    return OpenAIModel(**(values | {"timeout_s": 5.0, "max_tries": 4} | changes))


def request(number: int = 0, schema: dict[str, Any] | None = None) -> Request:
    turns = (Turn("system", "Solve."), Turn("user", f"Problem {number}"))
    return Request("integrator", turns, Decoding(0.0, 256), schema)


def key_of(number: int) -> str:
    return f"{number:032x}"


def ask(
    model: OpenAIModel, requests: list[Request], backoff: Backoff = FAST
) -> dict[str, Completion]:
    async def run() -> dict[str, Completion]:
        engine = OpenAIEngine(model, backoff)
        await engine.start()
        try:
            for number, one in enumerate(requests):
                engine.submit(key_of(number), one)
            answered: dict[str, Completion] = {}
            while len(answered) < len(requests):
                for completion in await engine.poll():
                    assert completion.key not in answered
                    answered[completion.key] = completion
            assert await engine.poll() == []
            return answered
        finally:
            await engine.close()
            await engine.close()

    return asyncio.run(run())


def ask_one(model: OpenAIModel, one: Request | None = None, **kwargs: Any) -> Completion:
    return ask(model, [one or request()], **kwargs)[key_of(0)]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with fake_endpoint() as running:
        yield running


def planned(
    endpoint: Endpoint, plan: str, fake: dict[str, Any] | None = None, **changes: Any
) -> OpenAIModel:
    """Return settings whose requests tell the endpoint how to treat them."""
    extra = {"fake": {"plan": plan, "id": plan, **(fake or {})}}
    return settings(endpoint, extra_body=extra, **changes)


def test_answer_is_read_with_its_usage(endpoint: Endpoint) -> None:
    completion = ask_one(settings(endpoint), request(schema=SCHEMA))
    assert completion.status == "ok"
    assert completion.text is not None
    assert json.loads(completion.text)["final_answer"] in {"A", "B"}
    assert completion.finish_reason == "stop"
    # "Solve." and "Problem 0" have 6 + 9 characters, which the server counts as tokens.
    assert (completion.prompt_tokens, completion.cached_tokens) == (15, 7)
    assert completion.completion_tokens == len(completion.text)
    assert completion.answered_by == "m"
    assert completion.raw is None


@pytest.mark.parametrize(
    ("plan", "tries"),
    [
        ("ok", 1),
        ("429,ok", 2),
        ("500,503,ok", 3),
        ("cut,ok", 2),
        ("reset,ok", 2),
        ("malformed,html,empty,ok", 4),
    ],
)
def test_passing_faults_are_retried(endpoint: Endpoint, plan: str, tries: int) -> None:
    completion = ask_one(planned(endpoint, plan))
    assert completion.status == "ok"
    assert completion.text is not None
    assert "Final answer:" in completion.text
    assert endpoint.stats()["ids"][plan] == tries


@pytest.mark.parametrize(
    ("plan", "reason", "tries"),
    [
        ("429", "http_429", 3),
        ("500", "http_500", 3),
        ("malformed", "bad_response", 3),
        ("empty", "bad_response", 3),
        ("cut", "connection", 3),
        ("reset", "connection", 3),
        ("toolong", "prompt_too_long", 1),
        ("400", "http_400", 1),
        ("slow", "timeout", 3),
    ],
)
def test_lasting_faults_become_failed_completions(
    endpoint: Endpoint, plan: str, reason: str, tries: int
) -> None:
    model = planned(endpoint, plan, {"slow_s": 2, "id": f"only {plan}"}, max_tries=3)
    model = model.model_copy(update={"timeout_s": 0.25 if plan == "slow" else 5.0})
    completion = ask_one(model)
    assert (completion.status, completion.reason, completion.text) == ("failed", reason, None)
    assert endpoint.stats()["ids"][f"only {plan}"] == tries


def test_nobody_listens() -> None:
    completion = ask_one(settings(None, max_tries=2))
    assert (completion.status, completion.reason) == ("failed", "connection")


@pytest.mark.parametrize(("retry_after", "most_s", "least"), [("1", 5.0, 1.0), ("600", 0.3, 0.3)])
def test_retry_after_is_honoured_up_to_the_cap(
    endpoint: Endpoint, retry_after: str, most_s: float, least: float
) -> None:
    model = planned(endpoint, "429,ok", {"retry_after": retry_after})
    begin = time.monotonic()
    assert ask_one(model, backoff=Backoff(0.001, most_s)).status == "ok"
    assert least <= time.monotonic() - begin < least + 10


@pytest.mark.parametrize("value", ["Wed, 21 Oct 2015 07:28:00 GMT", "soon", "", "-5", "1e9"])
def test_unusable_retry_after_costs_nothing(endpoint: Endpoint, value: str) -> None:
    begin = time.monotonic()
    assert ask_one(planned(endpoint, "429,ok", {"retry_after": value})).status == "ok"
    assert time.monotonic() - begin < 5


def test_backoff_doubles_to_its_limit() -> None:
    backoff = Backoff(first_s=1.0, most_s=8.0)
    for tries, planned in [(1, 1), (2, 2), (4, 8), (9, 8), (4000, 8)]:
        waits = [backoff.wait_s(tries, 0.0) for _ in range(50)]
        assert planned / 2 <= min(waits) < max(waits) <= planned * 1.5


@pytest.mark.parametrize("status", ["401", "403"])
def test_refused_key_names_the_variable_and_not_the_key(
    endpoint: Endpoint, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_ENV, SECRET)
    with pytest.raises(EngineError, match=KEY_ENV) as caught:
        ask_one(planned(endpoint, status, api_key_env=KEY_ENV))
    assert SECRET not in repr(caught.value)
    with pytest.raises(EngineError, match="set api_key_env"):
        ask_one(planned(endpoint, status))


def test_unknown_model_is_named(endpoint: Endpoint) -> None:
    with pytest.raises(EngineError, match="'llama-x'"):
        ask_one(planned(endpoint, "404", name="llama-x"))


@pytest.mark.parametrize("value", [None, "", "  "])
def test_missing_key_is_an_error_at_start(
    value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(KEY_ENV, raising=False)
    if value is not None:
        monkeypatch.setenv(KEY_ENV, value)
    with pytest.raises(EngineError, match=f"{KEY_ENV} is not set"):
        ask_one(settings(None, api_key_env=KEY_ENV))


def test_key_with_a_line_break_inside_is_refused_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_ENV, f"{SECRET}\nX: y")
    with pytest.raises(EngineError, match=KEY_ENV) as caught:
        ask_one(settings(None, api_key_env=KEY_ENV))
    assert SECRET not in str(caught.value)


def test_key_is_sent_and_appears_nowhere(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setenv(KEY_ENV, SECRET)
    caplog.set_level(logging.DEBUG)
    log = tmp_path / "log.jsonl"
    options = ("--plan", "ok;echo;500,cut,echo", "--key-env", KEY_ENV, "--log", str(log))
    with fake_endpoint(*options) as endpoint:
        model = settings(endpoint, api_key_env=KEY_ENV)
        answered = ask(model, [request(number) for number in range(12)])
        assert endpoint.stats()["behaviours"].keys() == {"ok", "echo", "500", "cut"}
    assert {completion.status for completion in answered.values()} == {"ok"}
    assert "Bearer [key]" in {completion.text for completion in answered.values()}
    assert caplog.records
    everything = repr(answered) + caplog.text + log.read_text(encoding="utf-8") + repr(model)
    assert SECRET not in everything


def test_every_request_comes_back_once_and_concurrency_is_bounded() -> None:
    with fake_endpoint("--plan", "ok;429,ok;500,ok;reset,ok", "--latency-s", "0.02") as endpoint:
        answered = ask(settings(endpoint), [request(number) for number in range(40)])
        stats = endpoint.stats()
    assert Counter(completion.status for completion in answered.values()) == {"ok": 40}
    assert stats["requests"] > 40
    assert 1 < stats["most_at_once"] <= 4


@pytest.mark.parametrize("plan", ["think", "reasoning"])
def test_reasoning_is_removed_from_the_text(endpoint: Endpoint, plan: str) -> None:
    completion = ask_one(planned(endpoint, plan))
    assert completion.text is not None
    assert "First guess" not in completion.text
    assert (completion.raw is not None) == (plan == "think")


def test_reasoning_without_an_answer_is_kept_as_raw(endpoint: Endpoint) -> None:
    completion = ask_one(planned(endpoint, "unfinished", {"model": "other-7b"}))
    assert (completion.status, completion.text, completion.raw) == ("ok", None, "First guess: 16.")
    assert completion.finish_reason == "length"
    assert completion.answered_by == "other-7b"


def test_body_holds_what_was_configured() -> None:
    key = "f" * 32
    body = request_body(settings(None, extra_body={"top_k": 5}), key, request(schema=SCHEMA))
    assert body == {
        "model": "m",
        "temperature": 0.0,
        "top_p": 1.0,
        "max_tokens": 256,
        "seed": seed_of(key),
        "top_k": 5,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
        },
        "messages": [
            {"role": "system", "content": "Solve."},
            {"role": "user", "content": "Problem 0"},
        ],
    }
    plain = settings(None, send_seed=False, structured_output=False)
    assert request_body(plain, key, request(schema=SCHEMA)).keys() == {
        *("model", "temperature", "top_p", "max_tokens", "messages")
    }


def test_proxies_are_used_except_on_this_machine(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert ask_one(settings(endpoint)).status == "ok"
    elsewhere = settings(None, base_url="http://inference.invalid/v1", max_tries=1)
    assert ask_one(elsewhere).reason == "connection"


def test_submit_before_start_is_refused() -> None:
    async def run() -> None:
        OpenAIEngine(settings(None)).submit(key_of(0), request())

    with pytest.raises(EngineError, match="must be started"):
        asyncio.run(run())


def test_fatal_error_comes_after_what_was_answered(endpoint: Endpoint) -> None:
    async def run() -> None:
        engine = OpenAIEngine(settings(endpoint), FAST)
        await engine.start()
        engine.submit(key_of(0), request())
        refused = OpenAIEngine(planned(endpoint, "401"), FAST)
        await refused.start()
        await asyncio.wait(engine._tasks)
        refused._tasks = engine._tasks
        refused.submit(key_of(1), request())
        await asyncio.wait(refused._tasks)
        assert [completion.key for completion in await refused.poll()] == [key_of(0)]
        with pytest.raises(EngineError, match="401"):
            await refused.poll()
        await refused.close()
        await engine.close()

    asyncio.run(run())


def test_close_cancels_what_is_on_its_way(endpoint: Endpoint) -> None:
    async def run() -> float:
        engine = OpenAIEngine(planned(endpoint, "slow", {"slow_s": 3}))
        await engine.start()
        engine.submit(key_of(0), request())
        await asyncio.sleep(0.05)
        begin = time.monotonic()
        await engine.close()
        return time.monotonic() - begin

    assert asyncio.run(run()) < 1


@pytest.mark.parametrize(("used", "expected"), [(7, "stop"), (8, "length"), (9, "length")])
def test_an_answer_as_long_as_allowed_counts_as_cut(used: int, expected: str) -> None:
    answer = Completion("k", "ok", text="17", finish_reason="stop", completion_tokens=used)
    assert _with_cut_flagged(answer, 8).finish_reason == expected
