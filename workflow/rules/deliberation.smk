rule deliberate_bundle:
    input:
        problems=PATHS.problems("{benchmark}"),
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
    conda:
        "../../envs/vllm.yaml"
    threads: lambda wildcards: workflow.cores if needs_engine(STUDY.actor(wildcards.model)) else 1
    resources:
        engines=lambda wildcards: needs_engine(STUDY.actor(wildcards.model)),
    params:
        settings=lambda wildcards: stage_digest(
            STUDY, "deliberation", family=wildcards.model
        ),
    script:
        "../scripts/deliberate_bundle.py"
