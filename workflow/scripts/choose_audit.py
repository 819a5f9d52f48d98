"""Choose the saved answers that evaluators judge again."""

from pathlib import Path

from dhd.stages.audit_sample import choose_audit
from dhd.stages.script import rule_job

with rule_job(snakemake) as job:
    records = Path(snakemake.input[0]).parent
    job.say(choose_audit(job.study, records, Path(snakemake.output[0])))
