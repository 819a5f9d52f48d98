"""The driver: what is asked, in which order, by whom, and what happens when things go wrong."""

import asyncio
import errno
import os
import signal
from pathlib import Path

import pytest

from dhd.driver import (
    EngineQueue,
    Session,
    SessionLimits,
    ShardWork,
    replay_shards,
)
from dhd.errors import EngineError, IncompleteError, JournalError
from dhd.journal import Journal, ShardLock
from dhd.progress import Progress
from dhd.requests import Completion, Generate
from support.echo_engine import MODEL, EchoEngine, Steady, ask, limited, run, work


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
        with pytest.raises(IncompleteError, match=r"1 request failed \(timeout ×1\)"):
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
