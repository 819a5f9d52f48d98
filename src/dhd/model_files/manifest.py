"""The manifest of a prepared model folder: which files it has, and from what they were made."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from dhd.errors import ModelError

MANIFEST = "dhd-manifest.json"

#: Larger files (weights) are checked by size alone, so that a check takes milliseconds.
_HASHED_BELOW_BYTES = 16 * 2**20


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_manifest(folder: Path, source: dict[str, Any]) -> None:
    """Write the manifest of a finished folder.

    Parameters
    ----------
    folder
        The folder with all its files.
    source
        What the files were made from; compared by :func:`check_manifest`.
    """
    files = {
        path.name: {"bytes": path.stat().st_size, "sha256": sha256_of(path)}
        for path in sorted(folder.iterdir())
    }
    text = json.dumps({"source": source, "files": files}, indent=2) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def check_manifest(folder: Path, source: dict[str, Any]) -> None:
    """Raise ``ModelError`` unless ``folder`` is complete and was made from ``source``."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        files = dict(manifest["files"])
        made_from = manifest["source"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _unusable(folder, f"{MANIFEST} cannot be read ({error})") from error
    if made_from != source:
        raise _unusable(folder, f"it was made from {made_from}, not from {source}")
    for name, wanted in files.items():
        file = folder / name
        if not file.is_file():
            raise _unusable(folder, f"{name} is missing")
        size = file.stat().st_size
        if size != wanted["bytes"]:
            raise _unusable(folder, f"{name} has {size} bytes, not {wanted['bytes']}")
        if size < _HASHED_BELOW_BYTES and sha256_of(file) != wanted["sha256"]:
            raise _unusable(folder, f"the sha256 of {name} is not {wanted['sha256']}")


def _unusable(folder: Path, why: str) -> ModelError:
    return ModelError(f"model folder {folder}: {why}; remove the folder and prepare it again")
