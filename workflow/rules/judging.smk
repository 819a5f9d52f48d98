rule judge_bundle:
    input:
        problems=PATHS.problems("{benchmark}"),
        bundles=bundles_to_judge,
        models=ancient(staged(STUDY.settings.judging.evaluator)),
    output:
        PATHS.bundle("judging", "{part}", "{benchmark}", "{bundle}.judgements.parquet"),
    log:
        PATHS.folder
        / "logs"
        / "judge_bundle"
        / "{part}"
        / "{benchmark}"
        / "{bundle}.log",
    retries: RETRIES
    conda:
        "../../envs/vllm.yaml"
    threads: job_threads(judging_job)
    resources:
        **resources_of(judging_job),
    params:
        settings=digest("judging"),
    script:
        "../scripts/judge_bundle.py"
