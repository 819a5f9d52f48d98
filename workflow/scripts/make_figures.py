"""Draw all figures that the tables determine."""

from pathlib import Path

from dhd.stages.results import make_figures
from dhd.stages.script import rule_job

with rule_job(snakemake) as job:
    tables = Path(snakemake.input.tables)
    print("\n".join(make_figures(job.study, tables, Path(snakemake.output[0]))))
