"""Reading the status files that jobs leave beside their journals and for each engine.

Folders are listed once and small files read by several threads: on a parallel file system it is
the round trips that take time. A file that vanishes or is damaged counts as absent.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

_READERS = 16

_Item = TypeVar("_Item")
_Value = TypeVar("_Value")


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
    found = _map(_Found, list(dict.fromkeys(folders)))
    paths = [f"{one.folder}/{name}.status" for one in found for name in one.statuses]
    documents = iter(_map(_read, paths))
    shards: dict[Path, dict[str, ShardFiles]] = {}
    for one in found:
        statuses = {name: next(documents) for name in one.statuses}
        shards[one.folder] = {
            name: ShardFiles(statuses.get(name, {}), one.beats.get(name), name in one.noted)
            for name in {*one.statuses, *one.noted, *one.beats}
        }
    return shards


def read_engines(folder: Path, *, without: str) -> list[Mapping[str, Any]]:
    """Return the documents of all engine processes in ``folder``; one file is none of them."""
    names = [entry.name for entry in _entries(folder)]
    paths = [f"{folder}/{name}" for name in names if name.endswith(".json") and name != without]
    return [document for document in _map(_read, paths) if document]


def list_names(folders: Iterable[Path]) -> dict[Path, frozenset[str]]:
    """Return the names of the files in each folder."""
    distinct = list(dict.fromkeys(folders))
    return dict(zip(distinct, _map(_names, distinct), strict=True))


def _map(function: Callable[[_Item], _Value], items: Sequence[_Item]) -> list[_Value]:
    """Return the function's values, computed by a few threads that take many items each."""
    size = max(1, -(-len(items) // _READERS))
    parts = [items[start : start + size] for start in range(0, len(items), size)]
    with ThreadPoolExecutor(_READERS) as readers:
        values = readers.map(lambda part: [function(item) for item in part], parts)
        return [value for part in values for value in part]


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


def _read(path: str) -> Mapping[str, Any]:
    try:
        with open(path, "rb") as stream:  # noqa: PTH123 - thousands of them
            document = json.loads(stream.read())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}
