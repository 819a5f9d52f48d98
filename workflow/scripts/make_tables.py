"""Compute all tables that the records determine."""

from pathlib import Path

from dhd.stages.results import make_tables
from dhd.stages.script import rule_job

with rule_job(snakemake) as job:
    records = Path(snakemake.input.records[0]).parent
    print("\n".join(make_tables(job.study, records, Path(snakemake.output[0]))))
