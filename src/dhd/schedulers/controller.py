"""Which Snakemake works on a folder, so that a second one does not start beside it."""

from __future__ import annotations

import atexit
import fcntl
import json
import os
import shlex
import signal
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from dhd.errors import ConfigError
from dhd.files import NO_FLOCK, replacing

_NOTE = Path(".snakemake", "dhd-controller.json")
_NOTES = Path(".snakemake", "dhd-controllers")
_NO_CONTROLLER = frozenset({"--mode", "-n", "--dry-run", "--dryrun", "--unlock"})
"""Words on the command line of a Snakemake that submits nothing, such as one inside a job."""
_NEAREST = 4
"""Processes between a submit command and its Snakemake: shells, at most."""


def profile_of(arguments: Sequence[str]) -> str:
    """Return the profile on the command line of a Snakemake; empty where there is none."""
    for at, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if name == "--profile":
            return value if equals else next(iter(arguments[at + 1 :]), "")
    return ""


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


def hold_for_resume(folder: Path) -> int:
    """Keep a second `dhd resume` away until this process, or what it becomes, has ended.

    Returns
    -------
    int
        The open file that does so.

    Raises
    ------
    ConfigError
        When another `dhd resume`, or the Snakemake that one became, works on the folder.
    """
    path = folder / ".snakemake" / "dhd-resume.lock"
    path.parent.mkdir(exist_ok=True)
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise ConfigError(
            f"{folder}: another `dhd resume` has taken over here and its Snakemake may still run; "
            "wait for it, or stop it first"
        ) from None
    except OSError as error:
        if error.errno not in NO_FLOCK:
            raise
    os.set_inheritable(lock, True)  # stays open, and so locked, in the Snakemake that follows
    return lock


def other_controller(folder: Path, *, trusts_notes: bool = True) -> str | None:
    """Return a description of a Snakemake that may still work on a folder, or None.

    On another host nothing is known of a process: one that was noted there counts as alive
    until its lock is gone, unless ``trusts_notes`` is false.
    """
    if (running := _running_here(folder)) is not None:
        return running
    if not trusts_notes or not any((folder / ".snakemake" / "locks").glob("*")):
        return None
    alive = map(_alive, sorted((folder / _NOTES).glob("*.json")))
    return next(filter(None, alive), None)


def refuse_left_lock(folder: Path, results: Path, command: Sequence[str]) -> None:
    """Raise where a Snakemake that is gone has left its lock on a study's files.

    Parameters
    ----------
    results
        ``results/<study>``, as Snakemake names it below the folder.
    command
        The command line of the Snakemake that asks.

    Raises
    ------
    ConfigError
        With the command that goes on.
    """
    if not _is_locked(folder, results) or other_controller(folder) is not None:
        return  # of a run that is there Snakemake itself speaks
    profile = shlex.join(["--profile", profile_of(command) or "profiles/local"])
    raise ConfigError(
        f"{results}: the last run on it was killed and has left its lock. Go on with\n"
        f"  dhd resume {profile} …\n"
        "and the further arguments of this command, such as --configfile"
    )


def _is_locked(folder: Path, results: Path) -> bool:
    """Return whether a lock of Snakemake holds outputs of a study."""
    for lock in (folder / ".snakemake" / "locks").glob("*.output.lock"):
        with suppress(OSError), lock.open(encoding="utf-8") as files:
            if any(Path(name.strip()).is_relative_to(results) for name in files):
                return True
    return False


def forget_controllers(folder: Path) -> None:
    """Remove the notes of all controllers of a folder: they are gone for sure."""
    for path in (folder / _NOTES).glob("*.json"):
        path.unlink(missing_ok=True)


def end_controller() -> bool:
    """Have the Snakemake that runs this command end with its running jobs; return whether."""
    process = os.getppid()
    for _ in range(_NEAREST):
        try:
            words = _words_of(Path("/proc", str(process)))
            parent = parent_of(Path("/proc", str(process)))
        except OSError:
            return False
        if _is_snakemake(words):
            os.kill(process, signal.SIGTERM)
            return True
        process = parent
    return False


def parent_of(process: Path) -> int:
    """Return the parent of a process, given by its folder in ``/proc``.

    Raises
    ------
    OSError
        When the process has ended.
    """
    after_name = (process / "stat").read_text().rpartition(")")[2]
    return int(after_name.split()[1])


def _words_of(process: Path) -> list[str]:
    return (process / "cmdline").read_bytes().decode(errors="replace").split("\0")


def _is_snakemake(words: Sequence[str]) -> bool:
    return any(Path(word).name == "snakemake" for word in words[:3])


def _running_here(folder: Path) -> str | None:
    """Return a description of a Snakemake of this host that works in a folder, noted or not."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = _words_of(process)
            is_here = (process / "cwd").samefile(folder)
        except OSError:
            continue
        is_other = int(process.name) != os.getpid()
        if is_here and is_other and _is_snakemake(words) and not _NO_CONTROLLER.intersection(words):
            return f"process {process.name} on this host"
    return None


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
