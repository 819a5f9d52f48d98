"""Let one evaluator judge the audit's sample of one benchmark."""

from pathlib import Path

from dhd.stages.audits import AuditJob
from dhd.stages.script import rule_job

with rule_job(snakemake) as job:
    at = snakemake.wildcards
    sample, out = Path(snakemake.input.sample), Path(snakemake.output[0])
    job.run(AuditJob(at.evaluator, at.benchmark, sample, out))
