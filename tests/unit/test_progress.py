"""What a running job says: pace and time left run from the first request, not from the start."""

import asyncio
import io
import os
import re
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from dhd.driver import EngineQueue, Session, SessionLimits, ShardWork
from dhd.engines.base import Engine
from dhd.errors import IncompleteError
from dhd.progress import Progress
from dhd.requests import Completion, Decoding, Generate, ModelIdentity, Request, Turn
from dhd.wording import duration, number_of


class Clock:
    """A monotonic clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    stopped = Clock()
    monkeypatch.setattr("dhd.progress.time.monotonic", stopped)
    return stopped


def no_engine() -> Engine:
    raise AssertionError("nothing is asked here")


def queue() -> EngineQueue:
    return EngineQueue(ModelIdentity("m"), no_engine, seed=1)


@pytest.fixture
def said(clock: Clock) -> Callable[[], list[str]]:
    """Return the lines that a job with 100 requests said since the last call."""
    console = io.StringIO()
    progress = Progress("job", 100, console)

    def lines() -> list[str]:
        text = console.getvalue().splitlines()
        console.seek(0)
        console.truncate()
        return [re.sub(r"^\d\d:\d\d:\d\d job: ", "", line) for line in text]

    lines.progress = progress  # type: ignore[attr-defined]
    return lines


def test_time_left_does_not_count_the_start_of_the_engine(
    clock: Clock, said: Callable[[], list[str]]
) -> None:
    progress: Progress = said.progress  # type: ignore[attr-defined]
    one = queue()
    progress.update([one])
    assert said() == []
    one.begun = 1.0
    progress.update([one])
    assert said() == ["engine starting"]
    clock.now += 300
    progress.update([one])
    line = "0 answered, 0 found in the journal, 0 failed, engine starting"
    assert said() == [line]
    one.first_asked = clock.now
    progress.update([one])
    assert said() == ["engine up after 5 min 0 s"]
    # 20 of 100 requests and 1,000 tokens in 40 s: 160 s for the others, 25 tokens a second.
    clock.now += 40
    one.counts.ok, one.counts.completion_tokens = 20, 1000
    progress.update([one])
    line = "20 answered, 0 found in the journal, 0 failed, 25 tok/s, about 2 min 40 s left"
    assert said() == [line]
    progress.close([one])
    assert said() == ["20 answered, 0 found in the journal, 0 failed, 25 tok/s, took 5 min 40 s"]


def test_found_requests_are_done_but_set_no_pace(
    clock: Clock, said: Callable[[], list[str]]
) -> None:
    progress: Progress = said.progress  # type: ignore[attr-defined]
    one = queue()
    one.begun, one.first_asked = 1.0, clock.now
    one.counts.found, one.counts.ok = 70, 10
    clock.now += 20
    progress.update([one])
    assert said()[0].endswith("0 tok/s, about 40 s left")


def test_more_calls_than_expected_are_no_fault(clock: Clock, said: Callable[[], list[str]]) -> None:
    progress: Progress = said.progress  # type: ignore[attr-defined]
    one = queue()
    one.begun, one.first_asked, one.counts.ok = 1.0, clock.now, 101
    clock.now += 20
    progress.update([one])
    assert said()[0].endswith("0 tok/s, time left depends on outcomes")


def test_lines_begin_with_the_time_of_day(clock: Clock) -> None:
    console = io.StringIO()
    Progress("job", 100, console).say("x")
    assert re.fullmatch(r"\d\d:\d\d:\d\d job: x\n", console.getvalue())


def test_a_draining_job_says_what_it_finishes_and_no_time_left(
    clock: Clock, said: Callable[[], list[str]]
) -> None:
    progress: Progress = said.progress  # type: ignore[attr-defined]
    one = queue()
    one.begun, one.first_asked, one.counts.ok = 1.0, clock.now, 20
    one._in_flight = {"a": clock.now, "b": clock.now}
    clock.now += 20
    one.drain()
    progress.say_stop("SIGINT received", [one], 60.0)
    progress.update([one])
    stop, line = said()
    assert stop == "SIGINT received: finishing 2 requests, at most 60 s"
    assert line.endswith("0 tok/s, finishing 2 requests")
    one._in_flight.clear()
    progress.say_stop("SIGINT received", [one], 60.0)
    assert said() == ["SIGINT received: nothing is in flight"]


def test_the_bar_of_a_terminal_shows_the_same_time_left(clock: Clock) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    console, one = Terminal(), queue()
    progress = Progress("job", 100, console)
    one.begun = 1.0
    progress.update([one])
    clock.now += 5
    one.first_asked = clock.now
    clock.now += 10
    one.counts.ok, one.counts.completion_tokens = 20, 1000
    progress.update([one])
    assert "20/100, 100 tok/s, about 40 s left" in console.getvalue()
    progress.close([one])


def test_a_session_that_is_told_to_stop_says_how_many_it_finishes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Stopped:
        identity, capacity = ModelIdentity("m"), 3

        def __init__(self) -> None:
            self.keys: list[str] = []

        async def start(self) -> None: ...

        def submit(self, key: str, _: Request) -> None:
            self.keys.append(key)

        async def poll(self) -> list[Completion]:
            if len(self.keys) == 3:
                os.kill(os.getpid(), signal.SIGINT)
                await asyncio.sleep(0.01)  # the loop hears of it
            return [Completion(self.keys.pop(), "ok", text="x")]

        async def close(self) -> None: ...

    def solve(text: str) -> Callable[[Generate], Awaitable[Completion]]:
        request = Request("integrator", (Turn("user", text),), Decoding(0.0, 8))
        return lambda generate: generate(request)

    work = ShardWork("s", tmp_path / "s.jsonl", [solve(one) for one in "abcdef"], list)
    queues = {"integrator": EngineQueue(ModelIdentity("m"), Stopped, seed=1)}
    session: Session[Completion, list[Completion]] = Session(
        queues, SessionLimits(drain_s=7), Progress("job", 6)
    )
    with pytest.raises(IncompleteError, match="stopped by SIGINT with 0 of 1 shards finished"):
        session.run([work])
    assert "job: SIGINT received: finishing 3 requests, at most 7 s" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59.6, "1 min 0 s"), (7325, "2 h 2 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_one_is_no_plural() -> None:
    assert number_of(1, "problem") == "1 problem"
    assert number_of(0, "problem") == "0 problems"
    assert number_of(1200, "query", "queries") == "1,200 queries"
