"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from dhd.errors import DhdError


def write_files(out: Path, contents: Mapping[str, bytes], stale: Iterable[str] = ()) -> list[Path]:
    """Write all `contents` into the folder `out`, made if missing.

    Every file is first written beside its place under a temporary name, and only when all are on
    disk are they renamed: an error leaves what was there before.

    Parameters
    ----------
    out
        Folder.
    contents
        Bytes by file name.
    stale
        Names of files of an earlier run that must not stay beside the new ones.

    Returns
    -------
    list of Path
        The files written, in the order of `contents`.

    Raises
    ------
    DhdError
        When the folder or a file in it cannot be written.
    """
    waiting: list[tuple[Path, Path]] = []
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, data in contents.items():
            temporary = out / f".{name}.{os.getpid()}.tmp"
            waiting.append((temporary, out / name))
            temporary.write_bytes(data)
        for temporary, path in waiting:
            temporary.replace(path)
        for name in stale:
            (out / name).unlink(missing_ok=True)
    except OSError as error:
        raise DhdError(f"{out}: cannot write there: {error}") from error
    finally:
        for temporary, _ in waiting:
            with suppress(OSError):
                temporary.unlink()
    return [path for _, path in waiting]
