"""Judge the submissions of one bundle."""

from pathlib import Path

from dhd.stages.judge import JudgingJob
from dhd.stages.script import rule_job

with rule_job(snakemake) as job:
    at = snakemake.wildcards
    sources, out = map(Path, snakemake.input.bundles), Path(snakemake.output[0])
    job.run(JudgingJob(at.part, at.benchmark, at.bundle, tuple(sources), out))
