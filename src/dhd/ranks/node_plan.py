"""What the leader of a job tells the rank on each node."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from dhd.ranks.run_folder import RunFolder

_FILE = "node.json"


@dataclass(frozen=True, slots=True)
class NodePlan:
    """What a rank has to know; no more, so that it starts at once.

    Attributes
    ----------
    folder
        The study's working directory.
    per_node
        Workers on each node.
    journals
        Journals of the job's shards.
    drain_s, stale_after_s
        See `dhd.driver.SessionLimits`.
    log
        Log of the job; empty where its workers share its output.
    """

    folder: str
    per_node: int
    journals: Sequence[str]
    drain_s: float
    stale_after_s: float
    log: str

    def write(self, run: RunFolder) -> None:
        """Write the plan into a run's folder."""
        run.write(_FILE, json.dumps(asdict(self)).encode())

    @classmethod
    def read(cls, run: RunFolder) -> NodePlan:
        """Read the plan of a run."""
        return cls(**run.read_json(_FILE))

    def worker_log(self, worker: int) -> Path | None:
        """Return the log of a worker, beside that of the job."""
        if not self.log:
            return None
        log = Path(self.log)
        return log.with_name(f"{log.stem}.worker-{worker:02d}{log.suffix}")
