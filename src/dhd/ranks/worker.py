"""One engine of a job: works on all shards of its bundle that are free, and fills journals.

usage: python -m dhd.ranks.worker FOLDER_OF_THE_RUN NUMBER
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dhd.driver import Session, ShardWork
from dhd.errors import DhdError, IncompleteError
from dhd.ranks.run_folder import RunFolder
from dhd.ranks.worker_job import WorkerJob
from dhd.stages.bundle_job import BundleJob
from dhd.stages.session import job_session


def work(run_folder: Path, number: int) -> None:
    """Work on the job of a run as its worker ``number``, counted from zero.

    Raises
    ------
    IncompleteError
        When requests failed that a later run asks again, or the job has to stop.
    EngineError, JournalError
        When this worker's engine or the disk is out of order.
    """
    run = RunFolder(run_folder)
    mine, handover = WorkerJob.read(run)
    run.count = mine.workers
    job: BundleJob[Any, Any] = mine.spec.prepare(mine.study, handover)
    try:
        shards = _from_my_place(job.work, number, mine.workers)
        session: Session[Any, None] = job_session(mine.study, job, mine.allocation, peers=run)
        session.run(shards)
    finally:
        job.close()


def _from_my_place(
    work: Sequence[ShardWork[Any, Any]], number: int, workers: int
) -> list[ShardWork[Any, None]]:
    """Return the shards from a place of this worker's own on, so that workers do not collide."""
    start = number * len(work) // workers % len(work)
    turned = [*work[start:], *work[:start]]
    return [replace(one, gather=_forget) for one in turned]


def _forget(_: list[Any]) -> None:
    """Keep nothing: the leader makes its tables from the journals."""


def main() -> int:
    """Work; return the exit code, 1 for what the leader has to know."""
    run_folder, number = Path(sys.argv[1]).absolute(), int(sys.argv[2])
    try:
        work(run_folder, number)
    except IncompleteError as error:
        print(error, file=sys.stderr)
    except (DhdError, OSError) as error:
        traceback.print_exc()
        name = f"{number:04d}"
        RunFolder(run_folder).note_end(name, f"worker {number} failed: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
