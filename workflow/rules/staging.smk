localrules:
    stage,
    stage_model,


# All that jobs need from outside: with it, compute nodes need no internet.
rule stage:
    input:
        staged(*STAGED),
        [PATHS.problems(benchmark) for benchmark in BENCHMARKS],


rule stage_model:
    output:
        PATHS.staged("{key}"),
    log:
        PATHS.folder / "logs" / "stage_model" / "{key}.log",
    conda:
        "../../envs/controller.yaml"
    params:
        model=lambda wildcards: [
            STAGED[wildcards.key].path,
            STAGED[wildcards.key].revision,
            STUDY.site and STUDY.site.model_folder,
        ],
    script:
        "../scripts/stage_model.py"
