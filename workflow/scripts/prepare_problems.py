"""Load one benchmark and write its problems."""

from pathlib import Path

from dhd.stages.prepare import prepare_problems
from dhd.stages.script import rule_job

with rule_job(snakemake) as job:
    notes = prepare_problems(
        job.study,
        snakemake.wildcards.benchmark,
        Path(snakemake.input.source),
        Path(snakemake.output[0]),
    )
    print("\n".join(notes))
