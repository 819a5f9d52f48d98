"""Judge the submissions of one bundle."""

from pathlib import Path

from dhd.stages.judge import judge_bundle
from dhd.stages.parts import SCAN
from dhd.stages.script import rule_job

with rule_job(snakemake) as job:
    at = snakemake.wildcards
    sources = [Path(path) for path in snakemake.input.bundles]
    judge_bundle(
        job.study,
        at.benchmark,
        at.bundle,
        sources,
        Path(snakemake.output[0]),
        job.console,
        stage="judging" if at.part == SCAN else "replays",
    )
