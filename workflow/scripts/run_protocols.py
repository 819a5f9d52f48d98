"""Run the end-to-end protocols on one bundle, or one turn of it."""

from pathlib import Path

from dhd.stages.protocols import ProtocolJob
from dhd.stages.script import rule_job

with rule_job(snakemake) as job:
    at = snakemake.wildcards
    sample, out = Path(snakemake.input.sample), Path(snakemake.output[0])
    job.run(ProtocolJob(at.model, at.benchmark, at.bundle, sample, out, snakemake.params.turn))
