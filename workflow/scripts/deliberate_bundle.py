"""Deliberate on the problems of one bundle."""

from dhd.stages.deliberate import DeliberationJob
from dhd.stages.script import rule_job

with rule_job(snakemake) as job:
    at = snakemake.wildcards
    job.run(DeliberationJob(at.model, at.benchmark, at.bundle))
