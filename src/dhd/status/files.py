"""Reading the status files that jobs leave beside their journals and for each engine.

Folders are listed once and small files read by several threads: on a parallel file system it is
the round trips that take time. A file that vanishes or is damaged counts as absent.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_READERS = 16


@dataclass(frozen=True, slots=True)
class ShardFiles:
    """What lies beside one journal.

    Attributes
    ----------
    status
        The last status, empty where there is none.
    beat
        Time of its owner's last heartbeat in seconds since the epoch; None without an owner.
    is_noted
        Whether a job noted problems of it, which it does before it asks anything.
    """

    status: Mapping[str, Any]
    beat: float | None
    is_noted: bool


class _Found:
    """What one listing of a folder of journals found, by the name of the shard."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.statuses: list[str] = []
        self.noted: set[str] = set()
        self.beats: dict[str, float] = {}
        for entry in _entries(folder):
            name, _, kind = entry.name.rpartition(".")
            if kind == "status":
                self.statuses.append(name)
            elif kind == "problems":
                self.noted.add(name)
            elif kind == "owner":
                beat = _mtime(entry)
                if beat is not None:
                    self.beats[name] = beat


def read_shards(folders: Iterable[Path]) -> dict[Path, dict[str, ShardFiles]]:
    """Return what lies in folders of journals: for each folder, by the name of the shard."""
    with ThreadPoolExecutor(_READERS) as readers:
        found = list(readers.map(_Found, dict.fromkeys(folders)))
        paths = [one.folder / f"{name}.status" for one in found for name in one.statuses]
        statuses = dict(zip(paths, readers.map(_read, paths), strict=True))
    shards: dict[Path, dict[str, ShardFiles]] = {}
    for one in found:
        names = {*one.statuses, *one.noted, *one.beats}
        shards[one.folder] = {
            name: ShardFiles(
                statuses.get(one.folder / f"{name}.status", {}),
                one.beats.get(name),
                name in one.noted,
            )
            for name in names
        }
    return shards


def read_engines(folder: Path, *, without: str) -> list[Mapping[str, Any]]:
    """Return the documents of all engine processes in ``folder``; one file is none of them."""
    names = [entry.name for entry in _entries(folder)]
    paths = [folder / name for name in names if name.endswith(".json") and name != without]
    with ThreadPoolExecutor(_READERS) as readers:
        return [document for document in readers.map(_read, paths) if document]


def list_names(folders: Iterable[Path]) -> dict[Path, frozenset[str]]:
    """Return the names of the files in each folder."""
    distinct = list(dict.fromkeys(folders))
    with ThreadPoolExecutor(_READERS) as readers:
        listed = readers.map(_names, distinct)
        return dict(zip(distinct, listed, strict=True))


def _names(folder: Path) -> frozenset[str]:
    return frozenset(entry.name for entry in _entries(folder))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        return []


def _mtime(entry: os.DirEntry[str]) -> float | None:
    try:
        return entry.stat().st_mtime
    except OSError:
        return None


def _read(path: Path) -> Mapping[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}
