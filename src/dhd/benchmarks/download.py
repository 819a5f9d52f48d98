"""Download the pinned files of a remote benchmark.

Plain ``urllib`` serves Hugging Face and GitHub alike: the files are few and small, commit and
checksum are pinned, proxies are taken from the environment, and the jobs that follow read
the files where they lie, without a cache that is keyed one way online and another offline.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from dhd.benchmarks.files import file_sha256
from dhd.errors import BenchmarkError, ConfigError

if TYPE_CHECKING:
    from dhd.config.benchmarks import BenchmarkSettings, RemoteFile

_CHUNK_BYTES = 1 << 20


def download_benchmark(
    settings: BenchmarkSettings, destination: Path, *, timeout_s: float = 60.0
) -> None:
    """Fetch the files of a remote benchmark into a folder.

    A file is checked before it gets its name, so a file that is there is complete; files
    that are there with the right checksum are not fetched again.

    Raises
    ------
    ConfigError
        If the benchmark has no remote.
    BenchmarkError
        If a file cannot be fetched or its sha256 is not the pinned one.
    """
    files = settings.remote_files()
    if not files:
        raise ConfigError("this benchmark has a local path and no remote: nothing to download")
    for file in files:
        target = destination / file.name
        if not (target.is_file() and file_sha256(target) == file.sha256):
            _fetch(file, target, timeout_s)


def _fetch(file: RemoteFile, target: Path, timeout_s: float) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        found = _stream(file.url, partial, timeout_s)
        if found != file.sha256:
            raise BenchmarkError(
                f"{file.url}: found sha256 {found}, expected {file.sha256}; "
                "the pinned commit and checksum do not belong together, or the transfer failed"
            )
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _stream(url: str, target: Path, timeout_s: float) -> str:
    """Write what an address serves to a file and return its sha256."""
    digest = hashlib.sha256()
    # The scheme is checked when the settings are read: https, or http on this machine.
    request = urllib.request.Request(url, headers={"User-Agent": "dhd"})  # noqa: S310
    try:
        with (
            urllib.request.urlopen(request, timeout=timeout_s) as answer,  # noqa: S310
            target.open("wb") as stream,
        ):
            while chunk := answer.read(_CHUNK_BYTES):
                digest.update(chunk)
                stream.write(chunk)
            stream.flush()
            os.fsync(stream.fileno())
    except urllib.error.HTTPError as error:
        error.close()
        raise BenchmarkError(
            f"{url}: the server answered {error.code} {error.reason}; "
            "check revision and file name, and whether the data set asks for a login"
        ) from error
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError) as error:
        reason = getattr(error, "reason", error)
        raise BenchmarkError(
            f"{url}: cannot be fetched ({reason}); run the download where there is internet "
            "(a login node; https_proxy is respected), or give a local path instead"
        ) from error
    return digest.hexdigest()
