localrules:
    make_tables,
    make_part_tables,
    make_figures,


rule make_tables:
    input:
        records=rules.collect_records.output,
    output:
        directory(PATHS.tables()),
    log:
        PATHS.folder / "logs" / "make_tables.log",
    conda:
        "../../envs/controller.yaml"
    params:
        settings=digest("analysis"),
    script:
        "../scripts/make_tables.py"


use rule make_tables as make_part_tables with:
    input:
        records=rules.collect_part.output,
    output:
        directory(PATHS.tables("{part}")),
    log:
        PATHS.folder / "logs" / "make_part_tables" / "{part}.log",


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
        settings=digest("analysis"),
    script:
        "../scripts/make_figures.py"
