localrules:
    sample_protocols,


rule sample_protocols:
    input:
        PATHS.problems("{benchmark}"),
    output:
        update(PATHS.protocol_sample("{benchmark}")),
    log:
        PATHS.folder / "logs" / "sample_protocols" / "{benchmark}.log",
    conda:
        "../../envs/controller.yaml"
    params:
        settings=digest("protocol_sample") if PROTOCOLS in PARTS else "",
    script:
        "../scripts/sample_protocols.py"


rule run_protocols:
    input:
        problems=PATHS.problems("{benchmark}"),
        sample=PATHS.protocol_sample("{benchmark}"),
        before=turn_before,
        models=ancient(staged_for_protocols),
    output:
        PATHS.bundle(
            "protocols", "{model}", "{benchmark}", "{bundle}.protocol_runs.parquet"
        ),
    log:
        PATHS.folder
        / "logs"
        / "run_protocols"
        / "{model}"
        / "{benchmark}"
        / "{bundle}.log",
    retries: RETRIES
    conda:
        "../../envs/vllm.yaml"
    threads: job_threads(protocol_job)
    resources:
        **resources_of(protocol_job),
    params:
        settings=lambda wildcards: digest("protocols", family=wildcards.model),
        turn=lambda wildcards: protocol_turns(STUDY, wildcards.model),
    script:
        "../scripts/run_protocols.py"


# Where actor and evaluator cannot share a node, jobs take turns: each asks one of them and
# replays the answers of the other from the journal. The last turn is `run_protocols` itself.
use rule run_protocols as run_protocols_turn with:
    output:
        PATHS.bundle(
            "protocols", "{model}", "{benchmark}", "{bundle}.turn-{turn}.parquet"
        ),
    log:
        PATHS.folder
        / "logs"
        / "run_protocols_turn"
        / "{model}"
        / "{benchmark}"
        / "{bundle}.{turn}.log",
    params:
        settings=lambda wildcards: digest("protocols", family=wildcards.model),
        turn=lambda wildcards: int(wildcards.turn),
