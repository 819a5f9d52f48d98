"""Draw the problems that one family repeats from one benchmark."""

from pathlib import Path

from dhd.stages.samples import sample_repeats
from dhd.stages.script import rule_job

with rule_job(snakemake) as job:
    at = snakemake.wildcards
    records = Path(snakemake.input[0]).parent
    job.say(sample_repeats(job.study, at.model, at.benchmark, records, Path(snakemake.output[0])))
