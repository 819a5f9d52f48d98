"""The ``vllm`` engine without vLLM: a stand-in model takes its place."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import threading
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from dhd.config.models import VllmModel
from dhd.engines import vllm as engine_module
from dhd.engines.vllm import VllmEngine
from dhd.errors import EngineError
from dhd.requests import Completion, Decoding, Request, Turn

SETTINGS = VllmModel(engine="vllm", path="models/stub", max_model_len=10, max_in_flight=8)
END = 0


class StubModel:
    """Answers with the prompt's length; a word is a token; at most two answers a step."""

    max_model_len = 10
    end_tokens = frozenset({END})

    def __init__(self, settings: VllmModel) -> None:
        self.running: list[tuple[str, int, int]] = []
        self.closed = False

    def prompt(self, turns: Sequence[Turn]) -> list[int]:
        if turns[-1].content == "no template":
            raise ValueError("no such role\nsecond line")
        return [7] * len(turns[-1].content.split())

    def add(self, key: str, prompt: list[int], request: Request, max_tokens: int) -> None:
        if request.json_schema is not None:
            raise ValueError("schema does not compile")
        self.running.append((key, len(prompt), max_tokens))

    def step(self) -> list[Any]:
        # Last in, first out: nothing may rest on the order of answers.
        done = [self.running.pop() for _ in range(min(2, len(self.running)))]
        return [output(key, f"{length} words", [7] * most) for key, length, most in done]

    def content(self, text: str, tokens: Sequence[int], prompt: Sequence[int]) -> str | None:
        return text

    def shutdown(self) -> None:
        self.closed = True


def output(key: str, text: str, tokens: list[int], reason: str = "length") -> Any:
    answer = SimpleNamespace(text=text, token_ids=tokens, finish_reason=reason)
    return SimpleNamespace(request_id=key, outputs=[answer], num_cached_tokens=None, finished=True)


def request(words: int = 1, max_tokens: int = 3, **kwargs: Any) -> Request:
    turns = (Turn("user", " ".join(["word"] * words)),)
    return Request("hypothesizer", turns, Decoding(0.7, max_tokens), **kwargs)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> type[StubModel]:
    monkeypatch.setattr(engine_module, "LoadedModel", StubModel)
    return StubModel


async def answers(engine: VllmEngine, asked: dict[str, Request]) -> dict[str, Completion]:
    for key, one in asked.items():
        engine.submit(key, one)
    got: dict[str, Completion] = {}
    while len(got) < len(asked):
        for completion in await engine.poll():
            assert completion.key not in got
            got[completion.key] = completion
    return got


def run(asked: dict[str, Request]) -> dict[str, Completion]:
    async def main() -> dict[str, Completion]:
        engine = VllmEngine(SETTINGS)
        await engine.start()
        got = await answers(engine, asked)
        await engine.close()
        await engine.close()
        return got

    return asyncio.run(main())


@pytest.mark.usefixtures("stub")
def test_a_too_long_prompt_fails_alone_and_answers_are_joined_by_key() -> None:
    # The context holds 10 tokens; vLLM wants room for at least one more than the prompt.
    words = {"a": 1, "b": 2, "c": 11, "d": 9, "e": 10}
    got = run({key: request(count) for key, count in words.items()})

    for key in "abd":
        assert got[key].status == "ok"
        assert got[key].text == f"{words[key]} words"
        assert got[key].prompt_tokens == words[key]
    assert got["d"].completion_tokens == 1, "one token of room is left beside nine"
    assert got["b"].completion_tokens == 3
    for key in "ce":
        assert (got[key].status, got[key].reason) == ("failed", "prompt_too_long")
        assert got[key].text is None
        assert got[key].prompt_tokens == words[key]


@pytest.mark.usefixtures("stub")
def test_what_vllm_refuses_is_a_failed_row_with_its_reason() -> None:
    asked = {
        "good": request(),
        "schema": request(json_schema={"type": "nonsense"}),
        "template": Request("hypothesizer", (Turn("user", "no template"),), Decoding(0, 3)),
    }
    got = run(asked)
    assert got["good"].status == "ok"
    assert got["schema"].reason == "refused: ValueError: schema does not compile"
    assert got["template"].reason == "refused: ValueError: no such role"


@pytest.mark.parametrize("reason", ["error", "abort"])
def test_an_answer_that_the_engine_broke_off_is_failed(
    reason: str, stub: type[StubModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stub, "step", lambda self: [output("a", "half", [7], reason)])
    got = run({"a": request()})["a"]
    assert (got.status, got.reason, got.text, got.raw) == (
        "failed",
        f"engine_{reason}",
        None,
        "half",
    )


def test_output_without_final_text_keeps_its_raw_form(
    stub: type[StubModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        stub, "step", lambda self: [output("a", "<|channel|>analysis hm", [7, 7, 7], "stop")]
    )
    monkeypatch.setattr(stub, "content", lambda *_: None)
    got = run({"a": request()})["a"]
    assert (got.status, got.text, got.raw) == ("ok", None, "<|channel|>analysis hm")
    assert got.finish_reason == "length", "three of three tokens without an end token is a cut"


def test_an_engine_that_dies_raises(stub: type[StubModel], monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(self: StubModel) -> list[Any]:
        raise EngineError("vLLM stopped working: RuntimeError: CUDA error")

    monkeypatch.setattr(stub, "step", dies)
    with pytest.raises(EngineError, match="CUDA error"):
        run({"a": request()})


def test_a_cancelled_poll_loses_nothing(
    stub: type[StubModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, leave = threading.Event(), threading.Event()
    step = stub.step

    def slow(self: StubModel) -> list[Any]:
        entered.set()
        assert leave.wait(10)
        return step(self)

    monkeypatch.setattr(stub, "step", slow)

    async def main() -> list[str]:
        engine = VllmEngine(SETTINGS)
        await engine.start()
        engine.submit("a", request())
        poll = asyncio.create_task(engine.poll())
        await asyncio.to_thread(entered.wait, 10)
        poll.cancel()
        engine.submit("b", request())
        leave.set()
        got: list[str] = []
        while len(got) < 2:
            got += [completion.key for completion in await engine.poll()]
        await engine.close()
        return got

    assert sorted(asyncio.run(main())) == ["a", "b"]


def test_the_loop_stays_responsive_while_the_model_computes(
    stub: type[StubModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    step = stub.step

    def slow(self: StubModel) -> list[Any]:
        time.sleep(0.3)
        return step(self)

    monkeypatch.setattr(stub, "step", slow)

    async def main() -> int:
        engine = VllmEngine(SETTINGS)
        await engine.start()
        engine.submit("a", request())
        poll = asyncio.create_task(engine.poll())
        beats = 0
        while not poll.done():
            await asyncio.sleep(0.01)
            beats += 1
        await engine.close()
        return beats

    assert asyncio.run(main()) >= 5


def test_poll_before_start_says_so() -> None:
    with pytest.raises(EngineError, match="before start"):
        asyncio.run(VllmEngine(SETTINGS).poll())


def test_a_hanging_shutdown_is_bounded_and_takes_its_workers_down(
    stub: type[StubModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    alarms: list[int] = []
    monkeypatch.setattr(stub, "shutdown", lambda self: release.wait(30))
    monkeypatch.setattr(engine_module, "_CLOSE_S", 0.2)
    monkeypatch.setattr(signal, "alarm", alarms.append)
    worker = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(60,))

    async def main() -> dict[str, Completion]:
        engine = VllmEngine(SETTINGS)
        await engine.start()
        got = await answers(engine, {"a": request()})
        worker.start()
        with pytest.raises(EngineError, match="did not shut down"):
            await engine.close()
        return got

    started = time.monotonic()
    got = asyncio.run(main())
    release.set()
    assert got["a"].status == "ok", "what was finished had been handed over before"
    assert not worker.is_alive()
    assert alarms == [engine_module._EXIT_S]
    assert time.monotonic() - started < 10


def test_a_stop_while_the_model_is_loaded_waits_for_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loads, may_end = threading.Event(), threading.Event()

    def load(_: VllmModel) -> StubModel:
        loads.set()
        may_end.wait(30)
        return StubModel(SETTINGS)

    monkeypatch.setattr(engine_module, "LoadedModel", load)

    async def main() -> float:
        engine = VllmEngine(SETTINGS)
        start = asyncio.create_task(engine.start())
        await asyncio.to_thread(loads.wait)
        start.cancel()
        begun = time.monotonic()
        await engine.close()
        return time.monotonic() - begun

    try:
        assert asyncio.run(main()) < 5
        assert 0 < signal.alarm(0) <= 15, "the process ends soon, whatever the load does"
    finally:
        signal.alarm(0)
        may_end.set()
