from dhd.staging import models_to_stage


localrules:
    stage,
    stage_model,


STAGED = models_to_stage(STUDY)


wildcard_constraints:
    key=one_of(STAGED),


def staged(*keys):
    """Return the notes of those models that run in jobs: a missing model stops them early."""
    return [PATHS.staged(key) for key in dict.fromkeys(keys) if key in STAGED]


def staged_actor(wildcards):
    """Return the note of the model that fills a family's reasoning roles."""
    family = getattr(wildcards, "integrator", wildcards.model)
    return staged(STUDY.settings.families[family].actor)


def staged_for_protocols(wildcards):
    """Return the notes of all models that a family's protocols ask."""
    settings = STUDY.settings
    writer = settings.studies.protocols.hint_writer
    actor = settings.families[wildcards.model].actor
    return staged(actor, settings.judging.evaluator, writer)


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
