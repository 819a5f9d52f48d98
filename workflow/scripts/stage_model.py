"""Fetch and check one model."""

from pathlib import Path

from dhd.stages.script import rule_job
from dhd.staging import stage_model

with rule_job(snakemake) as job:
    job.say(stage_model(job.study, snakemake.wildcards.key, Path(snakemake.output[0])))
