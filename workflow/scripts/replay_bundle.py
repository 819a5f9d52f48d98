"""Replay the cached pools of one bundle for one study."""

from pathlib import Path

from dhd.stages.replays import ReplayJob, replay_bundle
from dhd.stages.script import rule_job

with rule_job(snakemake) as job:
    at = snakemake.wildcards
    replay = ReplayJob(at.replay, at.model, at.integrator, at.benchmark, at.bundle)
    pools = [Path(path) for path in snakemake.input.pools]
    replay_bundle(job.study, replay, Path(snakemake.input.sample), pools, job.console)
