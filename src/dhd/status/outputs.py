"""Whether the results of a study whose shards are done are there, and which log says why not."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dhd.status.command import rerun_command

#: What is made of the finished shards, in this order: what is there then, and its job's log.
_RESULTS: Final = (
    ("records", "records/versions.json", "collect_records"),
    ("tables", "tables", "make_tables"),
    ("figures", "figures", "make_figures"),
)


def lacking_results(folder: Path) -> str:
    """Return which results are lacking, with the log to read and how to go on; else nothing.

    Parameters
    ----------
    folder
        ``results/<study>``.
    """
    for name, made, job in _RESULTS:
        if (folder / made).exists():
            continue
        log = folder / "logs" / f"{job}.log"
        why = f"; see {log}" if log.is_file() and log.stat().st_size else ""
        command = rerun_command(folder)
        how = f"; `{command}` makes them" if command else ""
        return f"no {name} yet in {folder / name}/{why}{how}"
    return ""
