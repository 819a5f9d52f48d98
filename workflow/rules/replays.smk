localrules:
    note_settings,
    sample_repeats,
    sample_again,
    choose_masking,


# Below a job that runs, Snakemake looks at changed params no more, and `ancient` files keep it
# from running what follows. Notes of the settings, made from nothing, tell samples and replays
# that theirs changed even where the scan grows in the same run.
rule note_settings:
    output:
        PATHS.settings_note("{stage}"),
    log:
        PATHS.folder / "logs" / "note_settings" / "{stage}.log",
    wildcard_constraints:
        stage=r"(samples|replays)/.+|audit_sample",
    conda:
        "../../envs/controller.yaml"
    params:
        settings=noted_digest,
    shell:
        "printf '%s\\n' {params.settings:q} > {output:q} 2> {log:q}"


# Samples are `ancient` to their inputs: once drawn they stay, whatever is judged later.
# Their own settings draw them again; what an earlier draw took is read and stays.
rule sample_repeats:
    input:
        ancient(PATHS.records(SCAN) / "problems.parquet"),
        ancient(PATHS.records(SCAN) / "messages.parquet"),
        ancient(PATHS.records(SCAN) / "outcomes.parquet"),
        PATHS.settings_note("samples/repeats/{model}/{benchmark}"),
    output:
        update(PATHS.sample("repeats", "{model}", "{benchmark}")),
    log:
        PATHS.folder / "logs" / "sample_repeats" / "{model}" / "{benchmark}.log",
    conda:
        "../../envs/controller.yaml"
    params:
        settings=lambda wildcards: digest(
            "samples",
            family=wildcards.model,
            benchmark=wildcards.benchmark,
            replay="repeats",
        ),
    script:
        "../scripts/sample_repeats.py"


rule sample_again:
    input:
        PATHS.sample("repeats", "{model}", "{benchmark}"),
        PATHS.settings_note("samples/{replay}/{model}/{benchmark}"),
    output:
        PATHS.sample("{replay}", "{model}", "{benchmark}"),
    log:
        PATHS.folder
        / "logs"
        / "sample_again"
        / "{replay}"
        / "{model}"
        / "{benchmark}.log",
    wildcard_constraints:
        replay="order|integrator_swap",
    conda:
        "../../envs/controller.yaml"
    params:
        settings=lambda wildcards: digest(
            "samples",
            family=wildcards.model,
            benchmark=wildcards.benchmark,
            replay=wildcards.replay,
        ),
    script:
        "../scripts/sample_again.py"


# An earlier choice is read: its cases stay, and only what lacks is chosen.
rule choose_masking:
    input:
        ancient(PATHS.records("repeats") / "problems.parquet"),
        ancient(PATHS.records("repeats") / "messages.parquet"),
        ancient(PATHS.records("repeats") / "outcomes.parquet"),
        PATHS.settings_note("samples/masking/{model}"),
    output:
        update(PATHS.cases("{model}")),
    log:
        PATHS.folder / "logs" / "choose_masking" / "{model}.log",
    conda:
        "../../envs/controller.yaml"
    params:
        settings=lambda wildcards: digest(
            "samples", family=wildcards.model, replay="masking"
        ),
    script:
        "../scripts/choose_masking.py"


rule replay_bundle:
    input:
        problems=PATHS.problems("{benchmark}"),
        sample=sample_of,
        pools=pools_to_replay,
        settings=PATHS.settings_note("replays/{replay}/{integrator}"),
        models=ancient(staged_actor),
    output:
        PATHS.bundle(
            "replays",
            "{replay}",
            "{model}",
            "{integrator}",
            "{benchmark}",
            "{bundle}.outcomes.parquet",
        ),
    log:
        PATHS.folder
        / "logs"
        / "replay_bundle"
        / "{replay}"
        / "{model}"
        / "{integrator}"
        / "{benchmark}"
        / "{bundle}.log",
    retries: RETRIES
    conda:
        "../../envs/vllm.yaml"
    threads: job_threads(replay_job)
    resources:
        **resources_of(replay_job),
    params:
        settings=lambda wildcards: digest(
            "replays", family=wildcards.integrator, replay=wildcards.replay
        ),
    script:
        "../scripts/replay_bundle.py"
