"""The driver: what is asked, in which order, and what happens when things go wrong."""

import asyncio
import errno
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dhd.driver import (
    EngineQueue,
    Reports,
    Session,
    SessionLimits,
    ShardWork,
    Stopped,
    replay_shards,
)
from dhd.errors import EngineError, IncompleteError, JournalError
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
        run(broken := Broken(), work(tmp_path, "s1", "a"))
    assert broken.closed == 1


def test_a_stop_in_the_middle_of_a_start_closes_the_engine(tmp_path: Path) -> None:
    class Loading(EchoEngine):
        async def start(self) -> None:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(60)

    engine = Loading()
    with pytest.raises(IncompleteError, match="stopped by SIGTERM"):
        run(engine, work(tmp_path, "s1", "a"))
    assert engine.closed == 1


def test_a_disk_that_refuses_at_the_end_leaves_neither_shard_nor_engine_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(EchoEngine):
        async def poll(self) -> list[Completion]:
            if len(self._in_flight) == 1:

                def refuse(_: int) -> None:
                    raise OSError(errno.ENOSPC, "No space left on device")

                monkeypatch.setattr("os.fsync", refuse)
                os.kill(os.getpid(), signal.SIGTERM)
                await asyncio.sleep(0.1)
            return await super().poll()

    engine = Full()
    shards = [work(tmp_path, name, f"{name}1", f"{name}2") for name in ("s1", "s2")]
    with pytest.raises(JournalError, match=r"No space left on device.*free space"):
        run(engine, *shards)
    assert engine.closed == 1
    for shard in shards:
        assert not shard.journal.with_suffix(".owner").exists()
        assert ShardLock(shard.journal).acquire()


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


def limited(
    engine: EchoEngine, shards: list[ShardWork[str, list[str]]], **settings: Any
) -> tuple[dict[str, list[str]], EngineQueue]:
    """Run shards within limits; return the results and the queue."""
    queue = EngineQueue(MODEL, lambda: engine, seed=1, gpus=4)
    options = {name: settings.pop(name) for name in ("peers", "reports") if name in settings}
    session: Session[str, list[str]] = Session(
        {"integrator": queue}, SessionLimits(**settings), Progress("test", 1), **options
    )
    return session.run(shards), queue


class Steady(EchoEngine):
    """Takes a fifth of a second for every answer."""

    async def poll(self) -> list[Completion]:
        await asyncio.sleep(0.2)
        return await super().poll()


def test_nothing_is_asked_that_could_not_be_answered_in_time(tmp_path: Path) -> None:
    engine = EchoEngine()
    with pytest.raises(IncompleteError, match="the end of its walltime with 0 of 1 shards"):
        limited(
            engine,
            [work(tmp_path, "s1", "a")],
            deadline=time.time() + 60,
            longest_request_s=61,
        )
    assert not engine.asked


def test_a_job_near_its_end_finishes_what_it_asked(tmp_path: Path) -> None:
    shards = [work(tmp_path, f"s{n}", *(f"{n}{letter}" for letter in "abcdef")) for n in range(9)]
    engine = Steady(capacity=1)
    begun = time.time()
    with pytest.raises(IncompleteError, match="the end of its walltime"):
        limited(engine, shards, deadline=begun + 3, longest_request_s=1.0, drain_s=0)
    assert time.time() - begun < 3
    answered = sum(len(Journal(shard.journal)) for shard in shards)
    assert answered == len(engine.asked) >= 5


def test_the_longest_request_so_far_says_what_the_next_may_take() -> None:
    queue = EngineQueue(MODEL, EchoEngine, seed=1)
    assert queue.expected_s(120) == 120
    queue.longest_s, queue.counts.ok = 7.0, 31
    assert queue.expected_s(120) == 120
    queue.counts.ok = 32
    assert queue.expected_s(120) == 7
    queue._in_flight["k"] = time.monotonic() - 50
    assert queue.expected_s(120) == pytest.approx(50, abs=1)


def test_a_job_that_finds_everything_needs_no_time(tmp_path: Path) -> None:
    shards = [work(tmp_path, "s1", "a", "b")]
    first = run(EchoEngine(), *shards)
    again, _ = limited(EchoEngine(), shards, deadline=time.time() + 5, longest_request_s=100)
    assert again == first


class Others:
    """Workers that share shards with the session under test."""

    def __init__(self, count: int, *finished: str) -> None:
        self.count = count
        self.done = set(finished)

    def finished(self) -> set[str]:
        return self.done

    def has_finished(self, name: str) -> bool:
        return name in self.done

    def finish(self, name: str) -> None:
        self.done.add(name)


def test_shards_that_a_peer_finished_are_left_out(tmp_path: Path) -> None:
    engine, peers = EchoEngine(), Others(2, "s0", "s2")
    shards = [work(tmp_path, f"s{n}", f"x{n}") for n in range(4)]
    results, _ = limited(engine, shards, peers=peers)
    assert results == {"s1": ["x1"], "s3": ["x3"]}
    assert engine.asked == ["x1", "x3"]
    assert peers.done == {"s0", "s1", "s2", "s3"}


def test_a_worker_holds_no_more_than_its_share_and_single_shards_at_the_end(
    tmp_path: Path,
) -> None:
    held: list[int] = []

    class Watching(Steady):
        async def poll(self) -> list[Completion]:
            held.append(len(list(tmp_path.glob("*.owner"))))
            await asyncio.sleep(0.01)
            return await EchoEngine.poll(self)

    shards = [work(tmp_path, f"s{n}", f"x{n}", f"y{n}") for n in range(8)]
    limited(Watching(capacity=1), shards, peers=Others(2))
    assert max(held) == 2  # of 8 shards a quarter
    assert set(held[-5:]) == {1}


def test_status_files_say_what_was_done(tmp_path: Path) -> None:
    fail = EchoEngine(fail=lambda text: "prompt_too_long" if text == "b" else None)
    shard = work(tmp_path, "s1", "a", "b", "c")
    reports = Reports("deliberation/oss/jeebench", "digest", tmp_path / "status")
    limited(fail, [shard], reports=reports)
    status = json.loads(shard.journal.with_suffix(".status").read_text())
    assert abs(status.pop("updated") - time.time()) < 60
    assert status == {
        "state": "done",
        "stage": "deliberation/oss/jeebench",
        "settings": "digest",
        "problems": 3,
        "problems_done": 3,
        "expected": None,
        "answered": 2,
        "failed": {"prompt_too_long": 1},
        "prompt_tokens": 0,
        "cached_tokens": 0,
        "completion_tokens": 0,
    }
    (path,) = (tmp_path / "status").glob("*.json")
    engine = json.loads(path.read_text())
    assert engine["begun"] <= engine["updated"]
    assert (engine["ended"], engine["answered"], engine["gpus"]) == (True, 2, 4)
    assert engine["model"] == "echo"


def test_a_stopped_shard_says_so_and_no_engine_leaves_no_engine_file(tmp_path: Path) -> None:
    shard = work(tmp_path, "s1", "a", "b")
    reports = Reports("stage", "", tmp_path / "status")
    with pytest.raises(IncompleteError):
        limited(EchoEngine(), [shard], reports=reports, deadline=time.time())
    status = json.loads(shard.journal.with_suffix(".status").read_text())
    assert (status["state"], status["problems_done"], status["answered"]) == ("stopped", 0, 0)
    assert not (tmp_path / "status").exists()


def test_a_status_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "status").write_text("a file where the folder should be")
    shard = work(tmp_path, "s1", "a")
    results, _ = limited(EchoEngine(), [shard], reports=Reports("x", "", tmp_path / "status"))
    assert results == {"s1": ["a"]}


def test_journals_alone_give_the_finished_shards(tmp_path: Path) -> None:
    fail = EchoEngine(fail=lambda text: "timeout" if text == "b" else None)
    shards = [work(tmp_path, "s1", "a"), work(tmp_path, "s2", "b", "c"), work(tmp_path, "s3", "d")]
    with pytest.raises(IncompleteError):
        run(fail, *shards[:2])
    queues = {"integrator": EngineQueue(MODEL, EchoEngine, seed=1)}
    before = replay_shards(shards, queues, max_attempts=3, accept_failed=False)
    assert before.outputs == {"s1": ["a"]}
    assert not before.retryable
    after = replay_shards(shards, queues, max_attempts=3, accept_failed=True)
    assert after.outputs == {"s1": ["a"], "s2": ["nothing", "c"]}
    assert list(after.retryable.values()) == ["timeout"]


def test_a_request_whose_time_is_over_is_not_asked() -> None:
    async def ask_late() -> None:
        queue = EngineQueue(MODEL, EchoEngine, seed=1)
        queue.is_too_late = lambda: True
        await queue.ask(ask("a"), Journal(Path("nowhere.jsonl")))

    with pytest.raises(Stopped):
        asyncio.run(ask_late())
