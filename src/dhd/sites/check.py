"""Whether the planned jobs keep the rules of their queues, before one is submitted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import ceil

from dhd.config.models import ModelSettings, VllmModel
from dhd.engines.placement import crowding_fault, engines_on_node, memory_share
from dhd.sites.jobs import JobSize
from dhd.sites.queues import QueueRules
from dhd.sites.site import Site

_WEIGHTS_SHARE = 0.87
"""Share of an engine's memory that weights may take: requests need the rest."""


def queue_faults(site: Site, sizes: Iterable[JobSize], *, jobs: int | None) -> Iterator[str]:
    """Yield the rules that jobs of these sizes would break, each with what would fit.

    Parameters
    ----------
    jobs
        Jobs that Snakemake keeps submitted at a time; None where it does not say.
    """
    for size in sorted(set(sizes), key=lambda one: (one.queue, one.select)):
        rules = site.rules(size.queue)
        if rules is None or site.machine is None:
            continue
        for fault in rules.faults(size.select, size.walltime):
            yield (
                f"{site.machine.name}'s queue {size.queue!r} {fault}"
                f"{_alternatives(site, size)} (rules of {site.machine.checked}, "
                f"{site.machine.source})"
            )
        if jobs is not None and rules.max_submitted is not None and jobs > rules.max_submitted:
            yield (
                f"{site.machine.name}'s queue {size.queue!r} takes {rules.max_submitted} job(s) "
                f"of a {rules.limit_is_per}, queued and running, not {jobs}; run with "
                f"--jobs {rules.max_submitted}"
            )


def model_faults(site: Site, models: Mapping[str, ModelSettings]) -> Iterator[str]:
    """Yield the models whose engines do not fit a node."""
    gpus = site.gpus_of_node
    for name, model in models.items():
        if not isinstance(model, VllmModel):
            continue
        parallel, engines = model.tensor_parallel_size, engines_on_node(model, gpus)
        if parallel > gpus:
            yield (
                f"models.{name}.tensor_parallel_size = {parallel}: a job has {gpus} GPU(s) of a "
                f"node; set it to {gpus} or less, or take a queue with more GPUs a node"
            )
        elif parallel * engines > gpus:
            yield (
                f"models.{name}.engines_per_node = {engines}: with tensor_parallel_size "
                f"{parallel} they need {parallel * engines} GPUs, a node has {gpus}; at most "
                f"{gpus // parallel} fit, or leave the key out"
            )


def memory_faults(
    site: Site, models: Mapping[str, ModelSettings], weights: Mapping[str, int]
) -> Iterator[str]:
    """Yield the models whose weights leave no room for requests on the GPUs of their engines.

    Parameters
    ----------
    weights
        Bytes of each model's weights; models that are not staged yet are left out.
    """
    for name, size in weights.items():
        model = models[name]
        if not isinstance(model, VllmModel):
            continue
        share = memory_share(model)
        room = _WEIGHTS_SHARE * share * site.gpu_memory_gb * 2**30
        if size > model.tensor_parallel_size * room:
            gpus = 1 << (ceil(size / room) - 1).bit_length()
            yield (
                f"models.{name}.tensor_parallel_size = {model.tensor_parallel_size}: weights of "
                f"{size / 1e9:.0f} GB leave no room for requests in {share:.0%} of so many GPUs "
                f"of {site.gpu_memory_gb} GB; {gpus} would do, or GPUs with more memory"
            )


def sharing_faults(jobs: Iterable[Mapping[str, ModelSettings]]) -> Iterator[str]:
    """Yield the jobs whose models do not fit the same GPUs together, each fault once.

    Parameters
    ----------
    jobs
        The models that each job asks, by key.
    """
    together = {tuple(sorted(models)): models for models in jobs}
    for models in together.values():
        fault = crowding_fault({f"models.{name}": model for name, model in models.items()})
        if fault is not None:
            yield fault


def idle_gpus(site: Site, models: Mapping[str, ModelSettings]) -> Iterator[str]:
    """Yield the models that leave GPUs of a node unused."""
    gpus = site.gpus_of_node
    for name, model in models.items():
        if isinstance(model, VllmModel):
            used = model.tensor_parallel_size * engines_on_node(model, gpus)
            if used < gpus:
                yield (
                    f"models.{name}: uses {used} of a node's {gpus} GPUs "
                    f"({engines_on_node(model, gpus)} engine(s) of {model.tensor_parallel_size})"
                )


def _alternatives(site: Site, size: JobSize) -> str:
    """Return the other queues that would take a job, as part of a message."""
    machine = site.machine
    if machine is None:
        return ""
    own = machine.queues[size.queue]
    fitting = [
        name
        for name, rules in machine.queues.items()
        if name != size.queue
        and _comparable(own, rules)
        and rules.takes(size.select, size.walltime)
    ]
    return f"; {' and '.join(fitting)} would take it" if fitting else ""


def _comparable(one: QueueRules, other: QueueRules) -> bool:
    """Return whether two queues count the same thing."""
    return one.unit == other.unit
