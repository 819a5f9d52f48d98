"""A pool of worker processes that bounds every comparison in time and memory."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import dhd
from dhd.answers.result import Comparison, deferred
from dhd.errors import DhdError
from dhd.problems import Problem

LOADING: Final = "loading"
"""What a worker says before it imports the symbolic library."""
READY: Final = "ready"
"""What a worker says when it has started, and when that import is done."""
START_S: Final = 120.0
"""Seconds that a worker may take to start, and to import the symbolic library."""
MEMORY_BYTES: Final = 2 << 30
"""Address space of a worker."""


class PoolError(DhdError):
    """Comparison workers cannot be started."""


class _Worker:
    """One child process; it is started on first use and replaced when it dies or is killed.

    A plain child with pipes rather than ``multiprocessing``: spawning there imports the parent's
    main module again, which for a workflow script means running it again.
    """

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = bytearray()

    def compare(self, request: bytes) -> Comparison:
        """Answer one request line within the limit."""
        process = self._process or self._start()
        try:
            _pipe(process.stdin).write(request)
            _pipe(process.stdin).flush()
            reply = self._reply(process)
        except TimeoutError:
            self.close()
            return deferred("time_limit")
        except (EOFError, OSError):
            # The worker's own timer may have been faster than ours.
            self.close()
            late = process.returncode == -signal.SIGALRM
            return deferred("time_limit" if late else "crashed")
        return Comparison(*reply)

    def close(self) -> None:
        """End the process and free its pipes; safe to call twice."""
        process, self._process = self._process, None
        self._buffer.clear()
        if process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.05 if process.poll() is None else None)
        process.kill()
        for stream in (process.stdin, process.stdout):
            # Closing flushes what a dead reader can no longer take.
            with contextlib.suppress(OSError):
                _pipe(stream).close()
        process.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        source = str(Path(dhd.__file__).parents[1])
        path = os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH"))))
        command = [sys.executable, "-m", "dhd.answers.worker", str(self.limit_s), str(MEMORY_BYTES)]
        process = self._process = subprocess.Popen(  # noqa: S603 - our own module
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
        )
        try:
            greeting = self._line(process, time.monotonic() + START_S)
        except (EOFError, TimeoutError) as error:
            self.close()
            raise PoolError(f"{' '.join(command)} does not start; run it to see why") from error
        if greeting != READY:
            raise PoolError(f"{' '.join(command)} said {greeting!r} instead of {READY!r}")
        return process

    def _reply(self, process: subprocess.Popen[bytes]) -> list[Any]:
        deadline = time.monotonic() + self.limit_s
        while True:
            reply = self._line(process, deadline)
            if isinstance(reply, list):
                return reply
            wait = START_S if reply == LOADING else self.limit_s
            deadline = time.monotonic() + wait

    def _line(self, process: subprocess.Popen[bytes], deadline: float) -> Any:
        """Return the next decoded line; ``TimeoutError`` at the deadline, ``EOFError`` at death."""
        descriptor = _pipe(process.stdout).fileno()
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise TimeoutError
            data = os.read(descriptor, 1 << 16)
            if not data:
                raise EOFError
            self._buffer += data
        line, _, rest = bytes(self._buffer).partition(b"\n")
        self._buffer = bytearray(rest)
        return json.loads(line)


def _pipe(stream: Any) -> Any:
    if stream is None:
        raise EOFError("the worker has no pipe")
    return stream


class ComparisonPool:
    """Compares answers in persistent worker processes, each killed and replaced at the limit.

    Use it as a context manager, from any one thread at a time. Workers start on first use, have
    a memory limit of 2 GiB, and end when the parent does, even if that is killed.

    Parameters
    ----------
    limit_s
        Seconds that one comparison may take; the import of the symbolic library not counted.
    workers
        Number of processes.
    prompt_shows_factor
        See ``compare_answers``.

    Raises
    ------
    PoolError
        If a parameter is not positive.
    """

    def __init__(
        self, *, limit_s: float = 5.0, workers: int = 1, prompt_shows_factor: bool = True
    ) -> None:
        if limit_s <= 0 or workers < 1:
            raise PoolError(f"limit_s={limit_s} and workers={workers} must both be positive")
        self.prompt_shows_factor = prompt_shows_factor
        self._workers = [_Worker(limit_s) for _ in range(workers)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all workers; safe to call twice."""
        for worker in self._workers:
            worker.close()

    def compare(self, problem: Problem, submitted: str) -> Comparison:
        """Compare one answer; see ``compare_many``."""
        return self._workers[0].compare(self._request(problem, submitted))

    def compare_many(self, pairs: Iterable[tuple[Problem, str]]) -> list[Comparison]:
        """Compare submissions with their problems' references.

        Returns
        -------
        list[Comparison]
            One a pair, in order. A comparison that is killed at the limit is None with reason
            ``time_limit``; one whose worker died (out of memory), None with ``crashed``.

        Raises
        ------
        PoolError
            If a worker cannot be started.
        """
        requests = deque(enumerate(self._request(*pair) for pair in pairs))
        results: list[Comparison] = [deferred("not_compared")] * len(requests)

        def serve(worker: _Worker) -> None:
            with contextlib.suppress(IndexError):
                while True:
                    index, request = requests.popleft()
                    results[index] = worker.compare(request)

        if len(self._workers) == 1:
            serve(self._workers[0])
        else:
            with ThreadPoolExecutor(len(self._workers)) as threads:
                list(threads.map(serve, self._workers))
        return results

    def _request(self, problem: Problem, submitted: str) -> bytes:
        document = {
            "benchmark": problem.benchmark,
            "reference": problem.reference,
            "answer_format": problem.answer_format,
            "options": problem.options,
            "unit": problem.unit,
            "submitted": submitted,
            "prompt_shows_factor": self.prompt_shows_factor,
        }
        return json.dumps(document).encode("ascii") + b"\n"
