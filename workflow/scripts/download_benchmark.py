"""Download one benchmark's pinned files."""

from pathlib import Path

from dhd.benchmarks import download_benchmark
from dhd.stages.script import rule_job

with rule_job(snakemake) as job:
    entry = job.study.settings.benchmarks[snakemake.wildcards.benchmark]
    download_benchmark(entry, Path(snakemake.output[0]))
