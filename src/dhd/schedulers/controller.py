"""Which Snakemake works on a folder, so that a second one does not start beside it."""

from __future__ import annotations

import json
import os
import socket
import time
from pathlib import Path

from dhd.files import replacing

_NOTE = Path(".snakemake", "dhd-controller.json")


def note_controller() -> None:
    """Note that this process works on the working directory from now on."""
    note = {"host": socket.gethostname(), "pid": os.getpid(), "begun": time.time()}
    with replacing(_NOTE) as path:
        path.write_text(json.dumps(note) + "\n")


def controller_of(folder: Path) -> str:
    """Return what identifies the last run of Snakemake on a folder; empty where there was none."""
    try:
        return (folder / _NOTE).read_text().strip()
    except OSError:
        return ""


def other_controller(folder: Path) -> str | None:
    """Return a description of the Snakemake that may still work on a folder, or None.

    On another host nothing is known of a process: one that was noted there counts as alive
    until its lock is gone.
    """
    try:
        note = json.loads((folder / _NOTE).read_text())
        host, pid = str(note["host"]), int(note["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not any((folder / ".snakemake" / "locks").glob("*")):
        return None
    if host != socket.gethostname():
        return f"process {pid} on {host}"
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return None
    return f"process {pid} on this host" if b"snakemake" in command else None
