"""Choose the messages of one family that are masked."""

from pathlib import Path

from dhd.stages.samples import choose_masking
from dhd.stages.script import rule_job

with rule_job(snakemake) as job:
    records = Path(snakemake.input[0]).parent
    out = Path(snakemake.output[0])
    job.say(choose_masking(job.study, snakemake.wildcards.model, records, out))
