"""Replay the cached pools of one bundle for one study."""

from pathlib import Path

from dhd.stages.replays import ReplayJob
from dhd.stages.script import rule_job

with rule_job(snakemake) as job:
    at = snakemake.wildcards
    place = (at.replay, at.model, at.integrator, at.benchmark, at.bundle)
    sample, pools = Path(snakemake.input.sample), map(Path, snakemake.input.pools)
    job.run(ReplayJob(*place, sample, tuple(pools)))
