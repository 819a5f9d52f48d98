"""Which Snakemake works on a folder, so that a second one does not start beside it."""

from __future__ import annotations

import atexit
import json
import os
import socket
import time
from pathlib import Path

from dhd.files import replacing

_NOTE = Path(".snakemake", "dhd-controller.json")
_NOTES = Path(".snakemake", "dhd-controllers")


def note_controller() -> None:
    """Note that this process works on the working directory from now on.

    Several can work on one folder, each on its own files: the note of each goes with it.
    """
    host, pid = socket.gethostname(), os.getpid()
    text = json.dumps({"host": host, "pid": pid, "begun": time.time()}) + "\n"
    _NOTES.mkdir(parents=True, exist_ok=True)
    mine = (_NOTES / f"{host}-{pid}.json").absolute()
    for note in (_NOTE, mine):
        with replacing(note) as path:
            path.write_text(text)
    atexit.register(mine.unlink, missing_ok=True)


def controller_of(folder: Path) -> str:
    """Return what identifies the last run of Snakemake on a folder; empty where there was none."""
    try:
        return (folder / _NOTE).read_text().strip()
    except OSError:
        return ""


def other_controller(folder: Path) -> str | None:
    """Return a description of a Snakemake that may still work on a folder, or None.

    On another host nothing is known of a process: one that was noted there counts as alive
    until its lock is gone.
    """
    if not any((folder / ".snakemake" / "locks").glob("*")):
        return None
    alive = map(_alive, sorted((folder / _NOTES).glob("*.json")))
    return next(filter(None, alive), None)


def forget_controllers(folder: Path) -> None:
    """Remove the notes of all controllers of a folder: they are gone for sure."""
    for path in (folder / _NOTES).glob("*.json"):
        path.unlink(missing_ok=True)


def _alive(path: Path) -> str | None:
    """Return a description of the process of a note, or None where it is gone."""
    try:
        note = json.loads(path.read_text())
        host, pid = str(note["host"]), int(note["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if host != socket.gethostname():
        return f"process {pid} on {host}"
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return None
    return f"process {pid} on this host" if b"snakemake" in command else None
