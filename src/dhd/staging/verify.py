"""Checksums of a model's files, compared with those that its repository states.

In a Hugging Face cache a file's name below ``blobs/`` is its checksum: sha256 for large files,
git's sha1 for the others.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from dhd.errors import ModelError

_READERS = 4
_CHUNK_BYTES = 1 << 22
_SHA1_DIGITS, _SHA256_DIGITS = 40, 64


@dataclass(frozen=True, slots=True)
class FileChecksum:
    """One file of a model: its size, its sha256, and whether its repository states the same.

    ``stated`` is False for files that nobody states a checksum of.
    """

    name: str
    bytes: int
    sha256: str
    stated: bool


def model_checksums(folder: Path) -> tuple[FileChecksum, ...]:
    """Return the checksums of all files in a model's folder, by name.

    Raises
    ------
    ModelError
        When a file is not what its repository states.
    """
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    with ThreadPoolExecutor(_READERS) as readers:
        return tuple(readers.map(lambda path: _checksum(folder, path), paths))


def _checksum(folder: Path, path: Path) -> FileChecksum:
    blob = path.resolve()
    size = blob.stat().st_size
    sha256 = hashlib.sha256()
    git = hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
    stated = blob.name if blob.parent.name == "blobs" else ""
    with blob.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            sha256.update(chunk)
            if len(stated) == _SHA1_DIGITS:
                git.update(chunk)
    found = {_SHA1_DIGITS: git.hexdigest(), _SHA256_DIGITS: sha256.hexdigest()}.get(len(stated))
    if found is not None and found != stated:
        raise ModelError(
            f"{path}: its checksum is {found}, its repository states {stated}; delete {blob} "
            "and stage the model again"
        )
    return FileChecksum(str(path.relative_to(folder)), size, sha256.hexdigest(), bool(found))
