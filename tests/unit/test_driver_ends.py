"""The driver at a job's end: signals, walltimes and what is then in flight."""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

from dhd.driver import (
    EngineQueue,
    Session,
    SessionLimits,
    Stopped,
)
from dhd.errors import IncompleteError
from dhd.journal import Journal
from dhd.progress import Progress
from dhd.requests import Completion
from support.echo_engine import MODEL, EchoEngine, Steady, ask, limited, run, work


def test_a_stop_in_the_middle_of_a_start_closes_the_engine(tmp_path: Path) -> None:
    class Loading(EchoEngine):
        async def start(self) -> None:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(60)

    engine = Loading()
    with pytest.raises(IncompleteError, match="stopped by SIGTERM"):
        run(engine, work(tmp_path, "s1", "a"))
    assert engine.closed == 1


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


def test_a_request_whose_time_is_over_is_not_asked() -> None:
    async def ask_late() -> None:
        queue = EngineQueue(MODEL, EchoEngine, seed=1)
        queue.is_too_late = lambda: True
        await queue.ask(ask("a"), Journal(Path("nowhere.jsonl")))

    with pytest.raises(Stopped):
        asyncio.run(ask_late())
