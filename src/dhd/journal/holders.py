"""Which journals hold requests of which problems, whatever the cut into shards was then."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

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


def journals_of_problems(folder: Path) -> dict[str, set[Path]]:
    """Return the journals in a folder that may hold requests of each problem, by its uid."""
    holders: dict[str, set[Path]] = defaultdict(set)
    for path in folder.glob(f"*{_SUFFIX}"):
        for uid in _read(path):
            holders[uid].add(path.with_name(_NOTE.sub(".jsonl", path.name)))
    return holders


def _read(path: Path) -> list[str]:
    """Return the noted uids; none where there is no note or a crash spoilt it."""
    try:
        noted = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return noted if isinstance(noted, list) else []
