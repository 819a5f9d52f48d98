"""Draw the problems of one benchmark that the protocols run on."""

from pathlib import Path

from dhd.stages.samples import sample_protocols
from dhd.stages.script import rule_job

with rule_job(snakemake) as job:
    problems, out = Path(snakemake.input[0]), Path(snakemake.output[0])
    job.say(sample_protocols(job.study, snakemake.wildcards.benchmark, problems, out))
