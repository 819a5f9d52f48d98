"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NO_FLOCK = frozenset({errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK})
"""What ``flock`` says on file systems that do not have it."""


@contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """Give a temporary path whose file takes the place of ``path`` when the block succeeds.

    Parameters
    ----------
    durable
        Whether file and folder are synced before and after the rename, so that a finished file
        survives the death of the node.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Processes of several nodes write to one file system, where their numbers may be the same.
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}.tmp")
    try:
        yield temporary
        if durable:
            _sync(temporary)
        temporary.replace(path)
        if durable:
            _sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def current_umask() -> int:
    """Return the umask of this process."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
