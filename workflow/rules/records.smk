localrules:
    collect_records,
    collect_part,


rule collect_records:
    input:
        problems=[PATHS.problems(benchmark) for benchmark in BENCHMARKS],
        bundles=interim_of(PARTS),
        judgements=judgements_of(PARTS),
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
        settings=digest("records"),
    script:
        "../scripts/collect_records.py"


# One part of the study with what its results are compared with, before the rest is there.
use rule collect_records as collect_part with:
    input:
        problems=[PATHS.problems(benchmark) for benchmark in BENCHMARKS],
        bundles=lambda wildcards: interim_of(PARTS[wildcards.part]),
        judgements=lambda wildcards: judgements_of(PARTS[wildcards.part]),
    output:
        multiext(
            str(PATHS.records("{part}")) + "/",
            "problems.parquet",
            "messages.parquet",
            "outcomes.parquet",
            "evaluations.parquet",
            "protocol_runs.parquet",
            "settings.yaml",
            "versions.json",
        ),
    log:
        PATHS.folder / "logs" / "collect_part" / "{part}.log",
