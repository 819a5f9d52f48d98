"""Run the end-to-end protocols on one bundle, or one turn of it."""

from pathlib import Path

from dhd.stages.protocols import ProtocolJob, run_protocols
from dhd.stages.script import rule_job

with rule_job(snakemake) as job:
    at = snakemake.wildcards
    work = ProtocolJob(at.model, at.benchmark, at.bundle, snakemake.params.turn)
    run_protocols(job.study, work, Path(snakemake.output[0]), job.console)
