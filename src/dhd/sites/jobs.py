"""What a bundle asks of the scheduler: nodes, time, queue."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from dhd.config.models import ModelSettings
from dhd.engines.placement import engines_on_node
from dhd.sites.site import Site
from dhd.sites.times import minutes_of


@dataclass(frozen=True, slots=True)
class JobSize:
    """One job's share of the machine.

    Attributes
    ----------
    select
        What the scheduler counts: nodes, or GPUs in a queue that gives single GPUs.
    nodes
        Nodes on which it runs.
    """

    queue: str
    nodes: int
    select: int
    walltime: str

    @property
    def minutes(self) -> int:
        """Return its time limit in minutes."""
        return minutes_of(self.walltime)


def engines(model: ModelSettings | None, site: Site | None) -> int:
    """Return how many engines of a model a job runs on each node; 0 where none is in the job."""
    if model is None:
        return 0
    return engines_on_node(model, 0 if site is None else site.gpus_of_node)


def engine_job(site: Site, shards: int, shards_per_node: int) -> JobSize:
    """Return the size of a job with engines: as many nodes as its shards need, at most a site's.

    Where the queue takes no job as small as that, it is the smallest that the queue takes.
    """
    rules = site.rules(site.queue)
    if site.gpus is not None:
        return JobSize(site.queue, 1, site.gpus, site.walltime)
    nodes = ceil(shards / shards_per_node)
    if rules is not None:
        nodes = rules.at_least(nodes, site.walltime)
    nodes = min(nodes, site.nodes)
    return JobSize(site.queue, nodes, nodes, site.walltime)


def cpu_job(site: Site) -> JobSize:
    """Return the size of a job without engines: one node, or one GPU's share of it."""
    return JobSize(site.cpu_queue, 1, 1, site.cpu_walltime)
