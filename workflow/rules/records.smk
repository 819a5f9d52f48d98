localrules:
    collect_records,


rule collect_records:
    input:
        problems=[PATHS.problems(benchmark) for benchmark in BENCHMARKS],
        bundles=[
            path
            for benchmark in BENCHMARKS
            for path in deliberated(benchmark, BUNDLES["deliberation"][benchmark])
        ],
        judgements=[
            PATHS.bundle("judging", benchmark, f"{bundle}.judgements.parquet")
            for benchmark in BENCHMARKS
            for bundle in BUNDLES["judging"][benchmark]
        ],
    output:
        multiext(
            str(PATHS.records()) + "/",
            "problems.parquet",
            "messages.parquet",
            "outcomes.parquet",
            "evaluations.parquet",
            "protocol_runs.parquet",
            "settings.yaml",
            "versions.json",
        ),
    log:
        PATHS.folder / "logs" / "collect_records.log",
    conda:
        "../../envs/controller.yaml"
    params:
        settings=stage_digest(STUDY, "records"),
    script:
        "../scripts/collect_records.py"
