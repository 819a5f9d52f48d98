localrules:
    choose_audit,


# The sample is `ancient` to the scan: once drawn it stays. Its own settings draw it again;
# what an earlier draw took is read and stays as far as the balance allows.
rule choose_audit:
    input:
        ancient(PATHS.records(SCAN) / "problems.parquet"),
        ancient(PATHS.records(SCAN) / "messages.parquet"),
        ancient(PATHS.records(SCAN) / "outcomes.parquet"),
        PATHS.settings_note("audit_sample"),
    output:
        update(PATHS.audit()),
    log:
        PATHS.folder / "logs" / "choose_audit.log",
    conda:
        "../../envs/controller.yaml"
    params:
        settings=digest("audit_sample") if AUDITORS else "",
    script:
        "../scripts/choose_audit.py"


rule audit_benchmark:
    input:
        problems=PATHS.problems("{benchmark}"),
        sample=PATHS.audit(),
        models=ancient(lambda wildcards: staged(wildcards.evaluator)),
    output:
        PATHS.bundle("audits", "{evaluator}", "{benchmark}.evaluations.parquet"),
    log:
        PATHS.folder / "logs" / "audit_benchmark" / "{evaluator}" / "{benchmark}.log",
    retries: RETRIES
    conda:
        "../../envs/vllm.yaml"
    threads: job_threads(audit_job)
    resources:
        **resources_of(audit_job),
    params:
        settings=lambda wildcards: digest("audits", family=wildcards.evaluator),
    script:
        "../scripts/audit_benchmark.py"
