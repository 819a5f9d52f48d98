"""The two machines that the stand-in plays: their queues as ALCF's public guides state them.

Written down apart from the profiles' ``queues.yaml``, so that a wrong rule there shows.
"""

from __future__ import annotations

from dataclasses import dataclass

HOUR = 3600


@dataclass(frozen=True)
class Queue:
    """What a queue takes: sizes (least, most, longest run in s), and jobs of a project."""

    sizes: tuple[tuple[int, int, int], ...]
    max_submitted: int | None = None
    max_running: int | None = None
    counts_gpus: bool = False
    counts: tuple[int, ...] | None = None

    def accepts(self, size: int, walltime: int) -> bool:
        """Return whether a job may be queued here."""
        if self.counts is not None and size not in self.counts:
            return False
        return walltime >= 300 and any(
            least <= size <= most and walltime <= longest for least, most, longest in self.sizes
        )


@dataclass(frozen=True)
class Machine:
    """A machine behind one PBS server."""

    server: str
    system: str | None
    file_systems: frozenset[str]
    gpus_per_node: int
    default_queue: str
    queues: dict[str, Queue]


POLARIS = Machine(
    server="polaris-pbs-01.hsn.cm.polaris.alcf.anl.gov",
    system="polaris",
    file_systems=frozenset({"home", "eagle", "grand", "local_scratch"}),
    gpus_per_node=4,
    default_queue="prod",
    queues={
        "debug": Queue(((1, 2, HOUR),)),
        "debug-scaling": Queue(((1, 10, HOUR),), max_submitted=1),
        "preemptable": Queue(((1, 10, 72 * HOUR),), max_submitted=20),
        "capacity": Queue(((1, 4, 168 * HOUR),), max_submitted=2, max_running=1),
        "prod": Queue(
            ((10, 24, 3 * HOUR), (25, 99, 6 * HOUR), (100, 496, 24 * HOUR)),
            max_submitted=100,
            max_running=10,
        ),
    },
)
SOPHIA = Machine(
    server="sophia-pbs-01.lab.alcf.anl.gov",
    system=None,
    file_systems=frozenset({"home", "eagle", "grand"}),
    gpus_per_node=8,
    default_queue="by-gpu",
    queues={
        "by-gpu": Queue(((1, 8, 12 * HOUR),), 20, 5, counts_gpus=True, counts=(1, 2, 4, 8)),
        "by-node": Queue(((1, 8, 12 * HOUR),), 20, 5),
        "bigmem": Queue(((1, 1, 12 * HOUR),), 20, 5),
    },
)
MACHINES = {"polaris": POLARIS, "sophia": SOPHIA}
