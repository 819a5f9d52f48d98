localrules:
    download_benchmark,
    prepare_problems,


rule download_benchmark:
    output:
        directory(PATHS.folder / "downloads" / "{benchmark}"),
    log:
        PATHS.folder / "logs" / "download_benchmark" / "{benchmark}.log",
    conda:
        "../../envs/controller.yaml"
    script:
        "../scripts/download_benchmark.py"


rule prepare_problems:
    input:
        source=benchmark_source,
    output:
        PATHS.problems("{benchmark}"),
    log:
        PATHS.folder / "logs" / "prepare_problems" / "{benchmark}.log",
    conda:
        "../../envs/controller.yaml"
    params:
        settings=lambda wildcards: digest("problems", benchmark=wildcards.benchmark),
    script:
        "../scripts/prepare_problems.py"
