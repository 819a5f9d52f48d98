"""Progress of a job: a bar on a terminal, plain lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from tqdm import tqdm

if TYPE_CHECKING:
    from dhd.driver.queue import EngineQueue

_LINE_EVERY_S = 15.0


class Progress:
    """Reports requests done, tokens a second and time left.

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
        self._bar = (
            tqdm(total=expected, desc=label, file=console, unit="req")
            if console is not None and console.isatty()
            else None
        )

    def say(self, text: str) -> None:
        """Report one event, in the log and on the console."""
        line = f"{self._label}: {text}"
        print(line, file=sys.stderr, flush=True)
        if self._bar is not None:
            self._bar.write(line, file=self._console)
        elif self._console is not None:
            print(line, file=self._console, flush=True)

    def update(self, queues: Sequence[EngineQueue]) -> None:
        """Report where the work stands, if it is time."""
        if self._bar is not None:
            done = sum(queue.counts.found + queue.counts.ok for queue in queues)
            self._bar.total = max(self._expected, done)
            self._bar.n = done
            self._bar.set_postfix_str(f"{self._tokens_per_s(queues):,.0f} tok/s")
        if time.monotonic() >= self._next_line and any(queue.counts.asked for queue in queues):
            self._next_line = time.monotonic() + _LINE_EVERY_S
            self.say(self._line(queues))

    def close(self, queues: Sequence[EngineQueue]) -> None:
        """Report the final state."""
        if self._bar is not None:
            self.update(queues)
            self._bar.close()
        self.say(self._line(queues, is_last=True))

    def _tokens_per_s(self, queues: Sequence[EngineQueue]) -> float:
        tokens = sum(queue.counts.completion_tokens for queue in queues)
        return tokens / max(time.monotonic() - self._begin, 1e-9)

    def _pace(self, queues: Sequence[EngineQueue], answered: int) -> str:
        if answered:
            return f"{self._tokens_per_s(queues):,.0f} tok/s"
        is_asked = any(queue.counts.asked for queue in queues)
        return "no answer yet" if is_asked else "model not asked"

    def _line(self, queues: Sequence[EngineQueue], *, is_last: bool = False) -> str:
        asked = sum(queue.counts.ok for queue in queues)
        found = sum(queue.counts.found for queue in queues)
        failed = sum(sum(queue.counts.failed.values()) for queue in queues)
        prompt = sum(queue.counts.prompt_tokens for queue in queues)
        cached = sum(queue.counts.cached_tokens for queue in queues)
        elapsed_s = time.monotonic() - self._begin
        parts = [
            f"{asked} answered, {found} found in the journal, {failed} failed",
            self._pace(queues, asked),
        ]
        if prompt:
            parts.append(f"prefix cache {cached / prompt:.0%}")
        left = self._expected - asked - found
        if not is_last and asked and left > 0:
            parts.append(f"about {_duration(left * elapsed_s / asked)} left")
        elif not is_last and asked:
            parts.append("more calls than expected")
        else:
            parts.append(f"took {_duration(elapsed_s)}")
        return ", ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
