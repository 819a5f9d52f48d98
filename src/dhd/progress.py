"""Progress of a job: a bar on a terminal, plain lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from tqdm import tqdm

from dhd.wording import duration, number_of

if TYPE_CHECKING:
    from dhd.driver.queue import EngineQueue

_LINE_EVERY_S = 15.0
_BAR = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt}{postfix}"


class Progress:
    """Reports requests done, tokens a second and time left.

    Pace and time left run from the first request sent: a large model loads for minutes, which
    say nothing of how fast it answers.

    Parameters
    ----------
    label
        What is being done, e.g. ``deliberate oss/jeebench/0003``.
    expected
        Requests that the whole work is expected to need; found ones count as done.
    console
        Where a person looks, if anywhere: a bar if it is a terminal, else the lines that
        go to standard error (the job's log) every 15 s.
    """

    def __init__(self, label: str, expected: int, console: TextIO | None = None) -> None:
        self._label = label
        self._expected = max(expected, 1)
        self._console = console
        self._begin = time.monotonic()
        self._next_line = self._begin + _LINE_EVERY_S
        self._starting_since: float | None = None
        self._bar = (
            tqdm(total=expected, desc=label, file=console, bar_format=_BAR)
            if console is not None and console.isatty()
            else None
        )

    def say(self, text: str) -> None:
        """Report one event, in the log and on the console."""
        line = f"{time.strftime('%H:%M:%S')} {self._label}: {text}"
        print(line, file=sys.stderr, flush=True)
        if self._bar is not None:
            self._bar.write(line, file=self._console)
        elif self._console is not None:
            print(line, file=self._console, flush=True)

    def say_stop(self, why: str, queues: Sequence[EngineQueue], at_most_s: float) -> None:
        """Report that nothing new is asked, and for what and how long the job still waits."""
        in_flight = sum(queue.in_flight for queue in queues)
        rest = f"finishing {number_of(in_flight, 'request')}, at most {at_most_s:.0f} s"
        self.say(f"{why}: {rest if in_flight else 'nothing is in flight'}")

    def update(self, queues: Sequence[EngineQueue]) -> None:
        """Report where the work stands, if it is time."""
        state = _State(queues, self._expected)
        self._note_start(state)
        if self._bar is not None:
            self._bar.total = max(self._expected, state.found + state.answered)
            self._bar.n = state.found + state.answered
            self._bar.set_postfix_str(", ".join((state.pace, *state.left)))
        if state.is_begun and time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _LINE_EVERY_S
            self.say(", ".join((*state.counted, *state.left)))

    def close(self, queues: Sequence[EngineQueue]) -> None:
        """Report the final state."""
        state = _State(queues, self._expected)
        if self._bar is not None:
            self.update(queues)
            self._bar.close()
        self.say(", ".join((*state.counted, f"took {duration(time.monotonic() - self._begin)}")))

    def _note_start(self, state: _State) -> None:
        """Say when an engine starts and, unless that took no time, when it is up."""
        if state.is_starting and self._starting_since is None:
            self._starting_since = time.monotonic()
            self.say("engine starting")
        elif state.asked_at is not None and self._starting_since is not None:
            self.say(f"engine up after {duration(state.asked_at - self._starting_since)}")
            self._starting_since = None


class _State:
    """What the queues did so far, in words."""

    def __init__(self, queues: Sequence[EngineQueue], expected: int) -> None:
        self.answered = sum(queue.counts.ok for queue in queues)
        self.found = sum(queue.counts.found for queue in queues)
        self.is_begun = any(queue.begun is not None for queue in queues)
        self.asked_at = min(
            (queue.first_asked for queue in queues if queue.first_asked is not None), default=None
        )
        self._queues = queues
        self._expected = expected

    @property
    def is_starting(self) -> bool:
        """Return whether an engine is being started and none was asked yet."""
        return self.is_begun and self.asked_at is None

    @property
    def counted(self) -> list[str]:
        """Return what was counted: requests, pace, prefix cache."""
        failed = sum(sum(queue.counts.failed.values()) for queue in self._queues)
        prompt = sum(queue.counts.prompt_tokens for queue in self._queues)
        cached = sum(queue.counts.cached_tokens for queue in self._queues)
        parts = [
            f"{self.answered} answered, {self.found} found in the journal, {failed} failed",
            self.pace,
        ]
        return [*parts, f"prefix cache {cached / prompt:.0%}"] if prompt else parts

    @property
    def pace(self) -> str:
        """Return tokens a second since the first request was sent, or why there is no pace."""
        if self.answered:
            tokens = sum(queue.counts.completion_tokens for queue in self._queues)
            return f"{tokens / self._seconds:,.0f} tok/s"
        if self.asked_at is not None:
            return "no answer yet"
        return "engine starting" if self.is_begun else "model not asked"

    @property
    def left(self) -> list[str]:
        """Return what is left to wait for; nothing while that cannot be told."""
        if any(queue.is_draining for queue in self._queues):
            in_flight = sum(queue.in_flight for queue in self._queues)
            return [f"finishing {number_of(in_flight, 'request')}"]
        if not self.answered:
            return []
        left = self._expected - self.answered - self.found
        if left <= 0:
            return ["time left depends on outcomes"]
        return [f"about {duration(left * self._seconds / self.answered)} left"]

    @property
    def _seconds(self) -> float:
        """Return the time since the first request was sent."""
        return max(time.monotonic() - (self.asked_at or 0.0), 1e-9)
