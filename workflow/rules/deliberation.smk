rule deliberate_bundle:
    input:
        problems=PATHS.problems("{benchmark}"),
        models=ancient(staged_actor),
    output:
        messages=PATHS.bundle(
            "deliberation", "{model}", "{benchmark}", "{bundle}.messages.parquet"
        ),
        outcomes=PATHS.bundle(
            "deliberation", "{model}", "{benchmark}", "{bundle}.outcomes.parquet"
        ),
    log:
        PATHS.folder
        / "logs"
        / "deliberate_bundle"
        / "{model}"
        / "{benchmark}"
        / "{bundle}.log",
    retries: RETRIES
    conda:
        "../../envs/vllm.yaml"
    threads: job_threads(deliberation_job)
    resources:
        **resources_of(deliberation_job),
    params:
        settings=lambda wildcards: digest("deliberation", family=wildcards.model),
    script:
        "../scripts/deliberate_bundle.py"
