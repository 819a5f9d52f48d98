rule judge_bundle:
    input:
        problems=PATHS.problems("{benchmark}"),
        bundles=bundles_to_judge,
    output:
        PATHS.bundle("judging", "{part}", "{benchmark}", "{bundle}.judgements.parquet"),
    log:
        PATHS.folder
        / "logs"
        / "judge_bundle"
        / "{part}"
        / "{benchmark}"
        / "{bundle}.log",
    conda:
        "../../envs/vllm.yaml"
    threads: workflow.cores if needs_engine(STUDY.evaluator()) else 1
    resources:
        engines=needs_engine(STUDY.evaluator()),
    params:
        settings=stage_digest(STUDY, "judging"),
    script:
        "../scripts/judge_bundle.py"
