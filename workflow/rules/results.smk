localrules:
    make_tables,
    make_figures,


rule make_tables:
    input:
        records=rules.collect_records.output,
    output:
        directory(PATHS.folder / "tables"),
    log:
        PATHS.folder / "logs" / "make_tables.log",
    conda:
        "../../envs/controller.yaml"
    params:
        settings=stage_digest(STUDY, "analysis"),
    script:
        "../scripts/make_tables.py"


rule make_figures:
    input:
        tables=rules.make_tables.output[0],
    output:
        directory(PATHS.folder / "figures"),
    log:
        PATHS.folder / "logs" / "make_figures.log",
    conda:
        "../../envs/controller.yaml"
    params:
        settings=stage_digest(STUDY, "analysis"),
    script:
        "../scripts/make_figures.py"
