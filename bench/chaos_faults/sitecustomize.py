"""Faults in every Python process that has this folder on PYTHONPATH, while a flag file is there.

``DHD_FAULTS`` names the folder of the flags:

``hold``          engines finish no request
``disk-full``     journals take half of what is written, then no more
``slow-renames``  a file takes up to 1.5 s to get its name, as on a network file system

What engines are asked is logged as by ``tests/support/asked``.
"""

import asyncio
import errno
import importlib.util
import os
import random
import time
from pathlib import Path

_ASKED = Path(__file__).resolve().parents[2] / "tests" / "support" / "asked" / "sitecustomize.py"


def _flag(name: str) -> bool:
    return os.path.exists(f"{os.environ['DHD_FAULTS']}/{name}")  # noqa: PTH110


def _is_journal(file: int) -> bool:
    return Path(f"/proc/self/fd/{file}").readlink().suffix == ".jsonl"


def _log_what_is_asked() -> None:
    spec = importlib.util.spec_from_file_location("asked", _ASKED)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def _fill_disks() -> None:
    write = os.write

    def write_half(file: int, data: bytes) -> int:
        if not _flag("disk-full") or not _is_journal(file):
            return write(file, data)
        if len(data) < 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, data[: len(data) // 2])

    os.write = write_half


def _slow_renames() -> None:
    replace = os.replace

    def replace_late(source: str, target: str) -> None:
        if _flag("slow-renames"):
            time.sleep(random.uniform(0.2, 1.5))  # noqa: S311
        replace(source, target)

    os.replace = replace_late  # type: ignore[assignment]


def _hold_engines() -> None:
    from dhd.engines.scripted import ScriptedEngine
    from dhd.requests import Completion

    poll = ScriptedEngine.poll

    async def poll_when_free(self: ScriptedEngine) -> list[Completion]:
        while _flag("hold"):
            await asyncio.sleep(0.1)
        return await poll(self)

    ScriptedEngine.poll = poll_when_free  # type: ignore[method-assign]


if "DHD_FAULTS" in os.environ:
    _fill_disks()
    _slow_renames()
    if "DHD_ASKED_LOG" in os.environ:
        _log_what_is_asked()
        _hold_engines()
