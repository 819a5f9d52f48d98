rule judge_bundle:
    input:
        problems=PATHS.problems("{benchmark}"),
        bundles=bundles_to_judge,
    output:
        PATHS.bundle("judging", "{benchmark}", "{bundle}.judgements.parquet"),
    log:
        PATHS.folder / "logs" / "judge_bundle" / "{benchmark}" / "{bundle}.log",
    params:
        settings=stage_digest(STUDY, "judging"),
    threads: workflow.cores if needs_engine(STUDY.evaluator()) else 1
    resources:
        engines=needs_engine(STUDY.evaluator()),
    conda:
        "../../envs/vllm.yaml"
    script:
        "../scripts/judge_bundle.py"
