"""Judge the submissions of one bundle."""

from pathlib import Path

from dhd.stages.judge import JudgingJob, judge_bundle
from dhd.stages.script import rule_job

with rule_job(snakemake) as job:
    at = snakemake.wildcards
    judging = JudgingJob(at.part, at.benchmark, at.bundle)
    sources = [Path(path) for path in snakemake.input.bundles]
    judge_bundle(job.study, judging, sources, Path(snakemake.output[0]), job.console)
