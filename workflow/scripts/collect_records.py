"""Join bundles into a records folder."""

from pathlib import Path

from dhd.stages.collect import collect_records
from dhd.stages.script import rule_job
from dhd.stages.settings import write_provenance

with rule_job(snakemake) as job:
    bundles = [Path(path) for path in snakemake.input.bundles]
    judgements = [Path(path) for path in snakemake.input.judgements]
    *_, settings, versions = (Path(path) for path in snakemake.output)
    for line in collect_records(job.study, bundles, judgements, settings.parent):
        job.say(line)
    write_provenance(job.study, settings, versions)
