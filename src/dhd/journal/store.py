"""The append-only journal of one shard's finished requests.

One JSON object a line, one line a finished request, written as it finishes. A process killed
in mid-write leaves a torn last line, which is cut off before the next append; a damaged line
anywhere else is an error. Failed requests are lines too: they count as attempts, and a later
success replaces them.
"""

from __future__ import annotations

import errno
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from dhd.errors import JournalError
from dhd.requests import Completion, well_formed

_TEXTS = ("text", "reason", "raw", "finish_reason", "answered_by")
_COUNTS = ("prompt_tokens", "cached_tokens", "completion_tokens")
_FIELDS = ("key", "status", *_TEXTS, *_COUNTS)

#: Failures that asking again cannot mend.
PERMANENT_REASONS = frozenset({"prompt_too_long"})

#: Failures of an endpoint that is away or overloaded: they say nothing about the request, so
#: they use up none of its attempts.
OUTAGE_REASONS = frozenset({"connection", "http_429", "http_502", "http_503", "http_504"})


class Journal:
    """Finished requests of one shard, by content key.

    Parameters
    ----------
    path
        The journal's file; it and its folder are made when the first line is written.
    earlier
        Further journals to read, never to write: those of another cut of the same
        problems into shards.
    max_attempts
        Failed tries after which a request stays failed.
    guard
        Called before every write; raises where this process may not write any more.

    Raises
    ------
    JournalError
        When a line other than the last is damaged, or the disk refuses a write.
    """

    def __init__(
        self,
        path: Path,
        *,
        earlier: Sequence[Path] = (),
        max_attempts: int = 3,
        guard: Callable[[], None] = lambda: None,
    ) -> None:
        self.path = path
        self._guard = guard
        self._max_attempts = max_attempts
        self._done: dict[str, Completion] = {}
        self._own: set[str] = set()
        self._tries: dict[str, int] = {}
        self._file: int | None = None
        self._size = self._size_seen = 0
        self._dirty = False
        self._earlier = tuple(earlier)
        self._load_all()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._done)

    def find(self, key: str) -> Completion | None:
        """Return the final outcome of a request, or None when it has to be asked (again)."""
        found = self._done.get(key)
        if found is None or found.status == "ok" or self._is_final(found):
            return found
        return None

    def latest(self, key: str) -> Completion | None:
        """Return how a request ended so far, whether or not a later run asks it again."""
        return self._done.get(key)

    def counts(self) -> dict[str, Any]:
        """Return what this file alone holds: answers, failures by reason, and tokens."""
        own = [self._done[key] for key in self._own]
        failed = Counter(one.reason or "unknown" for one in own if one.status == "failed")
        return {
            "answered": len(own) - failed.total(),
            "failed": dict(sorted(failed.items())),
            **{name: sum(getattr(one, name) for one in own) for name in _COUNTS},
        }

    def is_retryable(self, key: str) -> bool:
        """Return whether a request failed and a later run asks it again."""
        found = self._done.get(key)
        return found is not None and found.status == "failed" and not self._is_final(found)

    def append(self, completions: Iterable[Completion]) -> None:
        """Write finished requests; on return they survive the death of this process.

        Raises
        ------
        JournalError
            When the disk is full or refuses the write, or `guard` does; nothing half-written
            stays.
        """
        batch = list(completions)
        if not batch:
            return
        lines = "".join(_encode(completion) for completion in batch)
        self._write(lines.encode("utf-8", "backslashreplace"))
        for completion in batch:
            self._remember(completion)
            self._own.add(completion.key)

    def sync(self) -> None:
        """Force what was written to the disk, so that it survives the death of the node.

        Raises
        ------
        JournalError
            When the disk is full or refuses it.
        """
        if self._file is not None and self._dirty:
            try:
                os.fsync(self._file)
            except OSError as error:
                raise self._refused(error) from error
            self._dirty = False

    def close(self) -> None:
        """Sync and close, whether or not the disk takes it; safe to call twice."""
        try:
            self.sync()
        finally:
            file, self._file = self._file, None
            if file is not None:
                os.close(file)

    def _is_final(self, failed: Completion) -> bool:
        return (
            failed.reason in PERMANENT_REASONS
            or self._tries.get(failed.key, 0) >= self._max_attempts
        )

    def _remember(self, completion: Completion) -> None:
        if completion.status == "failed":
            tries = int(completion.reason not in OUTAGE_REASONS)
            self._tries[completion.key] = self._tries.get(completion.key, 0) + tries
            if self._done.get(completion.key, completion).status == "ok":
                return
        self._done[completion.key] = completion

    def _load_all(self) -> None:
        for known in (self._done, self._own, self._tries):
            known.clear()
        for other in self._earlier:
            self._load(other)
        self._size, self._size_seen = self._load(self.path)

    def _load(self, path: Path) -> tuple[int, int]:
        """Read a journal; return the sizes in bytes of its undamaged part and of all."""
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return 0, 0
        is_own = path == self.path
        good = 0
        lines = content.split(b"\n")
        for number, line in enumerate(lines, 1):
            is_last = number == len(lines)
            if line.strip(b"\0"):  # a crash of the node can leave a stretch of zero bytes
                completion = _decode(line)
                if completion is not None:
                    self._remember(completion)
                    if is_own:
                        self._own.add(completion.key)
                elif not is_last:
                    raise JournalError(
                        f"{path}: line {number} is damaged ({line[:60]!r}); a torn line may only "
                        "be the last. Restore the file, or delete that line to ask the request anew"
                    )
                else:
                    break
            good += len(line) + (0 if is_last else 1)
        return good, len(content)

    def _open(self) -> int:
        """Return the open file, without its torn end; what was added since it was read is none."""
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            if os.fstat(self._file).st_size != self._size_seen:
                self._load_all()
            os.ftruncate(self._file, self._size)
            if self._size and os.pread(self._file, 1, self._size - 1) != b"\n":
                self._size += os.write(self._file, b"\n")
        return self._file

    def _write(self, data: bytes) -> None:
        self._guard()
        written = 0
        try:
            file = self._open()
            while written < len(data):
                written += os.write(file, data[written:])
        except OSError as error:
            self._cut_back(written)
            raise self._refused(error) from error
        self._size = self._size_seen = self._size + written
        self._dirty = True

    def _cut_back(self, written: int) -> None:
        """Take back what was written last, unless somebody has written after it."""
        if self._file is not None and os.fstat(self._file).st_size == self._size + written:
            os.ftruncate(self._file, self._size)

    def _refused(self, error: OSError) -> JournalError:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        hint = "free space" if full else "check the disk"
        return JournalError(
            f"{self.path}: cannot be written ({error.strerror}); {hint} and run again: "
            "what was journaled before is kept"
        )


def _encode(completion: Completion) -> str:
    values = ((name, getattr(completion, name)) for name in _FIELDS)
    document = {name: value for name, value in values if value not in (None, 0, "")}
    if completion.text == "":
        document["text"] = ""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def _decode(line: bytes) -> Completion | None:
    """Return the completion of a line, or None when the line is damaged."""
    try:
        completion = Completion(**json.loads(line))
    except (ValueError, TypeError, RecursionError):
        return None
    texts = (getattr(completion, name) for name in _TEXTS)
    counts = (getattr(completion, name) for name in _COUNTS)
    is_sound = (
        isinstance(completion.key, str)
        and completion.status in ("ok", "failed")
        and all(text is None or isinstance(text, str) for text in texts)
        and all(isinstance(count, int) for count in counts)
    )
    return well_formed(completion) if is_sound else None
