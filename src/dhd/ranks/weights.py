"""Weights that an engine loads: from where they were staged, or from a copy on the node's disk.

The engines of a node, and jobs that follow on it, share one copy. A copy is never needed: where
the disk is too small or faulty, the engine loads the staged files.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from dhd.config.models import VllmModel
from dhd.sites.site import Site
from dhd.staging import weight_files, weights_folder

_COPIES_AT_A_TIME = 4
"""Files read side by side: a parallel file system gives more to several readers."""


def engine_weights(site: Site | None, model: VllmModel) -> Path:
    """Return the folder that an engine loads its model from.

    Raises
    ------
    ModelError
        When the model's files are not where they should have been staged.
    """
    staged = weights_folder(model, None if site is None else site.model_folder)
    if site is None or site.local_weights is None:
        return staged
    return local_copy(staged, Path(os.path.expandvars(site.local_weights)))


def local_copy(source: Path, folder: Path) -> Path:
    """Return a copy of a model's folder on the node's disk, made by the first who asks for it.

    Parameters
    ----------
    source
        The model's files.
    folder
        Folder on the node's disk for copies.

    Returns
    -------
    Path
        The copy, whose files have the names and sizes of the source; the source itself where
        there is no room for it or the disk is out of order.
    """
    files = weight_files(source)
    listing = "".join(f"{name} {size}\n" for name, size in sorted(files.items()))
    digest = hashlib.sha256(f"{source.resolve()}\n{listing}".encode()).hexdigest()[:16]
    target = folder / f"weights-{digest}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _one_at_a_time(folder / f".{target.name}.lock"):
            if _is_mine(target) and weight_files(target) == files:
                return target
            return target if _copy(source, target, files) else source
    except OSError as error:
        _say(f"{folder}: no copy of the weights ({error}); they are read from {source}")
        return source


def _copy(source: Path, target: Path, files: Mapping[str, int]) -> bool:
    """Copy some files of ``source``; return False where there is no room for them."""
    shutil.rmtree(target, ignore_errors=True)
    partial = target.with_name(f"{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    needed, free = sum(files.values()), shutil.disk_usage(target.parent).free
    if needed >= free:
        _say(
            f"{target.parent}: {free / 1e9:.1f} GB free, the weights have {needed / 1e9:.1f} GB; "
            f"they are read from {source}"
        )
        return False
    begun = time.monotonic()
    try:
        with ThreadPoolExecutor(_COPIES_AT_A_TIME) as threads:
            copies = [threads.submit(_copy_file, source / name, partial / name) for name in files]
            for copy in copies:
                copy.result()
        if weight_files(partial) != dict(files):
            raise OSError(f"{partial}: files differ in size from those of {source}")
        partial.rename(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    _say(f"{needed / 1e9:.1f} GB of weights copied in {time.monotonic() - begun:.0f} s: {target}")
    return True


def _copy_file(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _is_mine(folder: Path) -> bool:
    """Return whether a folder is there and nobody else made it: node disks are shared."""
    try:
        return folder.stat().st_uid == os.getuid()
    except FileNotFoundError:
        return False


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
