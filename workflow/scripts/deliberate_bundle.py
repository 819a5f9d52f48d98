"""Deliberate on the problems of one bundle."""

from dhd.stages.deliberate import deliberate_bundle
from dhd.stages.script import rule_job

with rule_job(snakemake) as job:
    at = snakemake.wildcards
    deliberate_bundle(job.study, at.model, at.benchmark, at.bundle, job.console)
