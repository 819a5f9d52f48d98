"""Which journals hold requests of which problems, whatever the cut into shards was then."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dhd.errors import JournalError
from dhd.files import replacing

_SUFFIX = ".problems"
_NOTE = re.compile(r"(\.[0-9a-f]{16})?\.problems$")


def note_problems(journal: Path, uids: Iterable[str]) -> None:
    """Note beside a journal that it may hold requests of these problems too.

    Every set of problems has a file of its own, so that jobs that write at the same time take
    nothing away from each other's notes.
    """
    content = json.dumps(sorted(uids))
    digest = hashlib.sha256(content.encode()).hexdigest()[:16]
    with replacing(journal.with_suffix(f".{digest}{_SUFFIX}")) as temporary:
        temporary.write_text(content, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Holders:
    """Which journals of a folder may hold requests of which problems.

    Attributes
    ----------
    noted
        Journals by ``problem_uid``.
    unclear
        Journals with a note that cannot be read: they may hold requests of any problem.
    """

    noted: Mapping[str, set[Path]]
    unclear: frozenset[Path]

    def of(self, uid: str) -> frozenset[Path]:
        """Return the journals that may hold requests of a problem."""
        return self.unclear.union(self.noted.get(uid, ()))


def journals_of_problems(folder: Path) -> Holders:
    """Return which journals of a folder may hold requests of which problems.

    Raises
    ------
    JournalError
        When a note may not be read.
    """
    noted: dict[str, set[Path]] = defaultdict(set)
    unclear = set()
    for path in folder.glob(f"*{_SUFFIX}"):
        journal = path.with_name(_NOTE.sub(".jsonl", path.name))
        uids = _read(path)
        if uids is None:
            unclear.add(journal)
        for uid in uids or ():
            noted[uid].add(journal)
    return Holders(noted, frozenset(unclear))


def _read(path: Path) -> list[str] | None:
    """Return the noted uids; None where the note is spoilt."""
    try:
        uids = json.loads(path.read_bytes())
    except ValueError:
        return None
    except OSError as error:
        raise JournalError(f"{path}: cannot be read ({error.strerror})") from error
    is_sound = isinstance(uids, list) and all(isinstance(uid, str) for uid in uids)
    return uids if is_sound else None
