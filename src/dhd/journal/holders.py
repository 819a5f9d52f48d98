"""Which journals hold requests of which problems, whatever the cut into shards was then."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from dhd.files import replacing

_SUFFIX = ".problems"


def note_problems(journal: Path, uids: Iterable[str]) -> None:
    """Note beside a journal that it may hold requests of these problems too."""
    path = journal.with_suffix(_SUFFIX)
    known = _read(path)
    noted = sorted({*known, *uids})
    if noted != known:
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(noted), encoding="utf-8")


def journals_of_problems(folder: Path) -> dict[str, set[Path]]:
    """Return the journals in a folder that may hold requests of each problem, by its uid."""
    holders: dict[str, set[Path]] = defaultdict(set)
    for path in folder.glob(f"*{_SUFFIX}"):
        for uid in _read(path):
            holders[uid].add(path.with_suffix(".jsonl"))
    return holders


def _read(path: Path) -> list[str]:
    """Return the noted uids; none where there is no note or a crash spoilt it."""
    try:
        noted = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return noted if isinstance(noted, list) else []
