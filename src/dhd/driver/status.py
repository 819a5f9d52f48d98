"""Status files: what other processes can see of running work without asking anybody.

They are advice, never needed to go on: a full disk loses them and nothing else.
"""

from __future__ import annotations

import contextlib
import json
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from dhd.driver.queue import EngineQueue
from dhd.driver.work import Reports
from dhd.files import replacing
from dhd.journal import Journal
from dhd.journal.lock import Owner

_WRITE_EVERY_S = 5.0
_RENEW_EVERY_S = 60.0

State = Literal["running", "done", "stopped"]


class StatusFile:
    """A JSON file that is replaced at most every 5 s, without a change only every minute."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written: Mapping[str, Any] = {}
        self._written_s = 0.0
        self._due = 0.0

    @property
    def is_due(self) -> bool:
        """Return whether it may be written again."""
        return time.monotonic() >= self._due

    def write(self, document: Mapping[str, Any]) -> None:
        """Write the document with the time; quietly not where the disk refuses it."""
        now = time.monotonic()
        self._due = now + _WRITE_EVERY_S
        if document == self._written and now < self._written_s + _RENEW_EVERY_S:
            return
        with (
            contextlib.suppress(OSError),
            replacing(self._path, durable=False) as temporary,
        ):
            text = json.dumps({**document, "updated": round(time.time(), 3)})
            temporary.write_text(text + "\n", encoding="utf-8")
            self._written, self._written_s = dict(document), now


class ShardStatus:
    """The status file beside one shard's journal.

    Parameters
    ----------
    journal
        The journal; its answers and failures are counted.
    problems
        Problems of the shard.
    expected
        Requests that the shard is expected to need, where that is known.
    reports
        What the work is.
    """

    def __init__(
        self, journal: Journal, problems: int, expected: int | None, reports: Reports
    ) -> None:
        self._file = StatusFile(journal.path.with_suffix(".status"))
        self._journal = journal
        self._fixed = {
            "stage": reports.stage,
            "settings": reports.settings,
            "problems": problems,
            "expected": expected,
        }

    def update(self, state: State, problems_done: int, *, now: bool = False) -> None:
        """Write the state of the shard if it is time, or ``now``."""
        if now or self._file.is_due:
            counted = self._journal.counts()
            self._file.write(
                {"state": state, **self._fixed, "problems_done": problems_done, **counted}
            )


class EngineStatus:
    """The status file of one engine process, from the start of its engine to its end."""

    def __init__(self, queue: EngineQueue, reports: Reports) -> None:
        owner = Owner.this_process()
        self._queue = queue
        self._file = StatusFile(reports.engines / f"{uuid.uuid4().hex}.json")
        self._fixed = {
            "stage": reports.stage,
            "host": owner.host,
            "job": owner.job,
            "model": str(queue.identity),
            "gpus": queue.gpus,
        }

    def update(self, *, is_ended: bool = False) -> None:
        """Write what the engine did so far, if it was started and it is time or its end."""
        begun = self._queue.begun
        if begun is None or not (is_ended or self._file.is_due):
            return
        counts = self._queue.counts
        self._file.write(
            {
                **self._fixed,
                "begun": round(begun, 3),
                "ended": is_ended,
                "answered": counts.ok,
                "completion_tokens": counts.completion_tokens,
            }
        )
