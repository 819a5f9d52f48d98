"""Take the problems of a study that is compared with the repeats."""

from pathlib import Path

from dhd.stages.samples import sample_again
from dhd.stages.script import rule_job

with rule_job(snakemake) as job:
    at = snakemake.wildcards
    repeats, out = Path(snakemake.input[0]), Path(snakemake.output[0])
    job.say(sample_again(job.study, at.replay, at.model, at.benchmark, repeats, out))
