"""The leader of a job of several engines: starts the ranks, waits, writes from the journals."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, TextIO

from dhd.config.load import Study
from dhd.driver import raise_if_retryable, replay_shards
from dhd.driver.work import Output
from dhd.engines.placement import engines_of_job
from dhd.errors import IncompleteError
from dhd.layout import StudyPaths
from dhd.ranks.launch import Launch
from dhd.ranks.node_plan import NodePlan
from dhd.ranks.run_folder import RunFolder
from dhd.ranks.worker_job import WorkerJob
from dhd.stages.bundle_job import Allocation, BundleJob
from dhd.stages.session import job_queues
from dhd.stages.specs import AnySpec
from dhd.wording import number_of


def lead(
    study: Study,
    spec: AnySpec,
    job: BundleJob[Any, Output],
    allocation: Allocation,
    console: TextIO | None = None,
) -> dict[str, Output]:
    """Let workers on all nodes work a bundle off; return what is kept of each shard by name.

    No worker is started when the journals hold everything already. However the workers ended,
    the journals alone say what is finished.

    Raises
    ------
    IncompleteError
        When shards are unfinished or requests failed that a later run asks again. Everything
        that finished is in the journals.
    """
    attempts = study.settings.journal.max_attempts
    queues = job_queues(study, job)
    before = replay_shards(job.work, queues, max_attempts=attempts, accept_failed=False)
    left = [one for one in job.work if one.name not in before.outputs]
    if not left:
        return before.outputs
    launch = _work(study, spec, job, allocation, set(before.outputs), console)
    outputs, retryable = before.outputs, dict[str, str]()
    for one in sorted(left, key=lambda one: one.name in launch.finished):  # doubtful ones first
        after = replay_shards([one], queues, max_attempts=attempts, accept_failed=True)
        if one.name in after.outputs:
            outputs |= after.outputs
            retryable |= after.retryable
        elif one.name not in launch.finished:
            raise launch.unfinished()
        else:
            raise IncompleteError(
                f"{job.label}: shard {one.name} was finished by a worker, but its journal cannot "
                "be read here yet; run the same command again"
            )
    raise_if_retryable(retryable, attempts)
    return outputs


def _work(
    study: Study,
    spec: AnySpec,
    job: BundleJob[Any, Any],
    allocation: Allocation,
    finished: set[str],
    console: TextIO | None,
) -> Launch:
    """Start ranks and workers; return when they have ended, be the shards finished or not."""
    settings = study.settings.journal
    gpus = 0 if study.site is None else study.site.gpus_of_node
    per_node = engines_of_job(job.asked, gpus)
    workers = allocation.nodes * per_node
    parent = StudyPaths.of(study.settings.study).runs(job.stage, job.bundle)
    with RunFolder.new(parent.absolute(), workers, settings.stale_after_s) as run:
        for name in finished:
            run.finish(name)
        WorkerJob(study, spec, allocation, workers).write(run, job.handover)
        NodePlan(
            folder=str(Path.cwd()),
            per_node=per_node,
            journals=[str(one.journal) for one in job.work],
            drain_s=settings.drain_s,
            stale_after_s=settings.stale_after_s,
            log="" if allocation.log is None else str(allocation.log),
        ).write(run)

        def say(text: str) -> None:
            line = f"{job.label}: {text}"
            for target in filter(None, (sys.stderr, console)):
                print(line, file=target, flush=True)

        launcher = [] if study.site is None else study.site.launch_command(allocation.nodes)
        launch = Launch(launcher, run, len(job.work), say)
        nodes, each = number_of(allocation.nodes, "node"), number_of(per_node, "engine")
        where = f"{nodes}, {each} on each"
        say(f"{number_of(len(job.work) - len(finished), 'shard')} for {where}")
        launch.wait(settings, allocation.deadline)
        return launch
