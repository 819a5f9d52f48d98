"""How often a cluster's job is tried again: without end while it finishes requests, else not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from dhd.errors import IncompleteError
from dhd.files import replacing

MOST_IN_VAIN = 6
"""Jobs of a bundle in a row, within one run of Snakemake, that may end without progress."""


@dataclass(frozen=True, slots=True)
class _Tries:
    """Jobs of a bundle that ended with an error and the same journals, and what the last said."""

    run: str
    journal_bytes: int
    count: int
    error: str

    @property
    def told(self) -> str:
        """Return what is said where there is no further job."""
        return (
            f"not tried again: {self.count} jobs in a row finished no request, the last with: "
            f"{self.error}; mend that and run the same command again"
        )


def in_vain(note: Path, *, run: str, most: int = MOST_IN_VAIN) -> str | None:
    """Return why a bundle gets no further job in this run of Snakemake; None where it may.

    For who submits, so that no job waits in a queue only to find that out.
    """
    past = _read(note)
    return past.told if past is not None and past.run == run and past.count >= most else None


def tries_of(output: Path) -> Path:
    """Return where the tries of the bundle with this file are counted."""
    folders = ["runs" if part == "bundles" else part for part in output.parent.parts]
    return Path(*folders, f"{output.name.partition('.')[0]}.tries.json")


@contextmanager
def tries_with_progress(
    note: Path, journals: Iterable[Path], *, run: str, most: int = MOST_IN_VAIN
) -> Iterator[None]:
    """Run a bundle's job unless the last ones ended with an error and without progress.

    Snakemake submits a failed job again a number of times that cannot tell a walltime from a
    broken model. Jobs that are killed or lose their node are not counted.

    Parameters
    ----------
    note
        File in which they are counted.
    journals
        The bundle's journals; they grow with each finished request.
    run
        Identifies the run of Snakemake: another one starts counting afresh.

    Raises
    ------
    IncompleteError
        When ``most`` jobs in a row were in vain; says what the last one said.
    """
    paths = list(journals)
    before, past = _size(paths), _read(note)
    is_same = past is not None and (past.run, past.journal_bytes) == (run, before)
    count = past.count if past is not None and is_same else 0
    if past is not None and count >= most:
        raise IncompleteError(past.told)
    try:
        yield
    except Exception as error:
        after = _size(paths)
        failed = _Tries(run, after, count + 1 if after == before else 0, str(error))
        with suppress(OSError), replacing(note, durable=False) as temporary:  # of a full disk
            temporary.write_text(json.dumps(asdict(failed)), encoding="utf-8")
        raise
    note.unlink(missing_ok=True)


def _read(note: Path) -> _Tries | None:
    try:
        return _Tries(**json.loads(note.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _size(paths: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in paths if path.exists())
