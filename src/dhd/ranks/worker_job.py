"""What the leader of a job tells its workers: settings, bundle, and time."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import TypeAdapter

from dhd.config.load import Study
from dhd.ranks.run_folder import RunFolder
from dhd.stages.bundle_job import Allocation
from dhd.stages.specs import AnySpec

JOB_FILE = "job.json"
_HANDOVER = "handover"


@dataclass(frozen=True, slots=True)
class WorkerJob:
    """A worker's part of a job, with the settings as the leader resolved them.

    Keys of endpoints are not among them: settings name environment variables alone.

    Attributes
    ----------
    study
        The checked settings.
    spec
        The bundle.
    allocation
        What the scheduler gave the job.
    workers
        How many share the bundle.
    """

    study: Study
    spec: AnySpec
    allocation: Allocation
    workers: int

    def write(self, run: RunFolder, handover: bytes) -> None:
        """Write it into a run's folder, with what a worker need not compute again."""
        run.write(_HANDOVER, handover)
        run.write(JOB_FILE, _ADAPTER.dump_json(self))

    @classmethod
    def read(cls, run: RunFolder) -> tuple[WorkerJob, bytes]:
        """Read it and what is handed over."""
        job = _ADAPTER.validate_json((run.path / JOB_FILE).read_bytes())
        return job, (run.path / _HANDOVER).read_bytes()


_ADAPTER = TypeAdapter(WorkerJob)
