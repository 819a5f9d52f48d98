"""The driver: what is asked, in which order, and what happens when things go wrong."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from dhd.driver import EngineQueue, Session, SessionLimits, ShardWork
from dhd.errors import EngineError, IncompleteError
from dhd.journal import Journal, ShardLock
from dhd.progress import Progress
from dhd.requests import Completion, Decoding, Generate, ModelIdentity, Request, Turn

MODEL = ModelIdentity("echo")


class EchoEngine:
    """Answers with the last turn's text; ``fail`` names the texts that it fails on."""

    identity = MODEL

    def __init__(self, capacity: int = 4, fail: Callable[[str], str | None] = lambda _: None):
        self.capacity = capacity
        self.fail = fail
        self.asked: list[str] = []
        self.most_in_flight = 0
        self.closed = 0
        self._in_flight: list[tuple[str, str]] = []

    async def start(self) -> None:
        pass

    def submit(self, key: str, request: Request) -> None:
        text = request.turns[-1].content
        self.asked.append(text)
        self._in_flight.append((key, text))
        self.most_in_flight = max(self.most_in_flight, len(self._in_flight))

    async def poll(self) -> list[Completion]:
        key, text = self._in_flight.pop(0)
        reason = self.fail(text)
        if reason is not None:
            return [Completion(key, "failed", reason=reason)]
        return [Completion(key, "ok", text=text, answered_by="echo")]

    async def close(self) -> None:
        self.closed += 1


def ask(text: str, draw: str = "") -> Request:
    return Request("integrator", (Turn("user", text),), Decoding(0.0, 8), draw=draw)


def work(folder: Path, name: str, *texts: str) -> ShardWork[str, list[str]]:
    def task(text: str) -> Callable[[Generate], asyncio.Future[str]]:
        async def solve(generate: Generate) -> str:
            return (await generate(ask(text))).text or "nothing"

        return solve  # type: ignore[return-value]

    return ShardWork(name, folder / f"{name}.jsonl", [task(text) for text in texts], list)


def run(
    engine: EchoEngine,
    *shards: ShardWork[str, list[str]],
    max_attempts: int = 3,
    max_outstanding: int = 8,
) -> dict[str, list[str]]:
    queue = EngineQueue(MODEL, lambda: engine, seed=1)
    limits = SessionLimits(max_attempts=max_attempts, max_outstanding=max_outstanding, drain_s=5)
    session: Session[str, list[str]] = Session({"integrator": queue}, limits, Progress("test", 1))
    return session.run(shards)


def test_returns_results_in_the_order_of_tasks(tmp_path: Path) -> None:
    results = run(EchoEngine(), work(tmp_path, "s1", "b", "a"), work(tmp_path, "s2", "c"))
    assert results == {"s1": ["b", "a"], "s2": ["c"]}


def test_asks_in_sorted_prompt_order_within_what_waits(tmp_path: Path) -> None:
    engine = EchoEngine(capacity=1)
    run(engine, work(tmp_path, "s1", *"hgfedcba"))
    assert engine.asked == sorted("abcdefgh")


def test_keeps_the_engine_full_across_shards_and_never_overfull(tmp_path: Path) -> None:
    engine = EchoEngine(capacity=4)
    shards = [work(tmp_path, f"s{n}", f"x{n}", f"y{n}") for n in range(6)]
    run(engine, *shards)
    assert engine.most_in_flight == 4
    assert len(engine.asked) == 12


def test_a_second_run_builds_no_engine(tmp_path: Path) -> None:
    shards = [work(tmp_path, "s1", "a", "b")]
    first = run(EchoEngine(), *shards)

    def no_engine() -> EchoEngine:
        raise AssertionError("an engine was built though nothing was missing")

    queue = EngineQueue(MODEL, no_engine, seed=1)
    session: Session[str, list[str]] = Session(
        {"integrator": queue}, SessionLimits(), Progress("test", 1)
    )
    assert session.run(shards) == first


def test_a_new_seed_asks_anew(tmp_path: Path) -> None:
    shards = [work(tmp_path, "s1", "a")]
    run(EchoEngine(), *shards)
    engine = EchoEngine()
    queue = EngineQueue(MODEL, lambda: engine, seed=2)
    Session({"integrator": queue}, SessionLimits(), Progress("test", 1)).run(shards)
    assert engine.asked == ["a"]


def test_equal_requests_are_asked_once_and_journaled_in_both_shards(tmp_path: Path) -> None:
    engine = EchoEngine()
    results = run(engine, work(tmp_path, "s1", "a", "a"), work(tmp_path, "s2", "a"))
    assert engine.asked == ["a"]
    assert results == {"s1": ["a", "a"], "s2": ["a"]}
    assert [len(Journal(tmp_path / f"{name}.jsonl")) for name in ("s1", "s2")] == [1, 1]


def test_failures_leave_the_job_incomplete_until_tries_run_out(tmp_path: Path) -> None:
    fail = EchoEngine(fail=lambda text: "timeout" if text == "b" else None)
    shard = work(tmp_path, "s1", "a", "b", "c")
    for _ in range(2):
        with pytest.raises(IncompleteError, match=r"1 request\(s\) failed \(timeout ×1\)"):
            run(fail, shard)
    assert run(fail, shard) == {"s1": ["a", "nothing", "c"]}
    assert fail.asked.count("b") == 3
    assert fail.asked.count("a") == fail.asked.count("c") == 1
    assert run(fail, shard) == {"s1": ["a", "nothing", "c"]}
    assert fail.asked.count("b") == 3


def test_a_prompt_that_is_too_long_is_final_at_once(tmp_path: Path) -> None:
    engine = EchoEngine(fail=lambda text: "prompt_too_long" if text == "b" else None)
    assert run(engine, work(tmp_path, "s1", "a", "b")) == {"s1": ["a", "nothing"]}


def test_an_endpoint_that_is_down_stops_the_job_early(tmp_path: Path) -> None:
    engine = EchoEngine(capacity=16, fail=lambda _: "connection")
    texts = [f"{n:03d}" for n in range(500)]
    with pytest.raises(EngineError, match="64 requests in a row failed"):
        run(engine, work(tmp_path, "s1", *texts), max_outstanding=600)
    assert len(engine.asked) < 100
    assert engine.closed == 1


def test_an_engine_that_cannot_start_is_an_error(tmp_path: Path) -> None:
    class Broken(EchoEngine):
        async def start(self) -> None:
            raise EngineError("no such model folder")

    with pytest.raises(EngineError, match="no such model folder"):
        run(Broken(), work(tmp_path, "s1", "a"))


def test_an_error_in_a_problem_is_raised_not_swallowed(tmp_path: Path) -> None:
    async def broken(generate: Generate) -> str:
        await generate(ask("a"))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(EchoEngine(), ShardWork("s1", tmp_path / "s1.jsonl", [broken], list))
    assert len(Journal(tmp_path / "s1.jsonl")) == 1


def test_sigterm_lets_requests_in_flight_finish_and_asks_nothing_new(tmp_path: Path) -> None:
    class Slow(EchoEngine):
        async def poll(self) -> list[Completion]:
            if len(self.asked) == 4 and len(self._in_flight) == 4:
                os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(0.02)
            return await super().poll()

    engine = Slow(capacity=4)
    shards = [work(tmp_path, "s1", *"abcdefgh"), work(tmp_path, "s2", *"ijkl")]
    with pytest.raises(IncompleteError, match="stopped by SIGTERM with 0 of 2 shards"):
        run(engine, *shards, max_outstanding=6)
    asked = list(engine.asked)
    assert len(Journal(tmp_path / "s1.jsonl")) == len(asked)
    second = EchoEngine()
    assert run(second, *shards) == {"s1": list("abcdefgh"), "s2": list("ijkl")}
    assert sorted(asked + second.asked) == list("abcdefghijkl")


def test_a_drain_ends_at_its_limit(tmp_path: Path) -> None:
    class Stuck(EchoEngine):
        async def poll(self) -> list[Completion]:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(60)
            return []

    queue = EngineQueue(MODEL, Stuck, seed=1)
    session: Session[str, list[str]] = Session(
        {"integrator": queue}, SessionLimits(drain_s=0.2), Progress("test", 1)
    )
    with pytest.raises(IncompleteError, match="stopped by SIGTERM"):
        session.run([work(tmp_path, "s1", "a")])


def test_waits_for_a_shard_that_another_job_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dhd.driver.session._RETRY_LOCKED_S", 0.05)
    shards = [work(tmp_path, "s1", "a"), work(tmp_path, "s2", "b")]
    held = ShardLock(shards[0].journal)
    assert held.acquire()

    class Releasing(EchoEngine):
        async def poll(self) -> list[Completion]:
            held.release()
            return await super().poll()

    engine = Releasing()
    assert run(engine, *shards) == {"s1": ["a"], "s2": ["b"]}
    assert engine.asked == ["b", "a"]
