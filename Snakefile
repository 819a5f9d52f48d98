from pathlib import Path

from snakemake.utils import min_version

min_version("9.6")


if not workflow.overwrite_configfiles:

    configfile: Path(workflow.basedir, "config", "config.yaml")


include: "workflow/rules/common.smk"
include: "workflow/rules/staging.smk"
include: "workflow/rules/benchmarks.smk"
include: "workflow/rules/deliberation.smk"
include: "workflow/rules/replays.smk"
include: "workflow/rules/judging.smk"
include: "workflow/rules/protocols.smk"
include: "workflow/rules/audits.smk"
include: "workflow/rules/records.smk"
include: "workflow/rules/results.smk"
include: "workflow/rules/status.smk"


localrules:
    all,
    records,
    tables,
    figures,
    scan,
    repeats,
    order,
    integrator_swap,
    masking,
    protocols,
    evaluators,


rule all:
    default_target: True
    input:
        rules.make_tables.output,
        rules.make_figures.output,


rule records:
    input:
        rules.collect_records.output,


rule tables:
    input:
        rules.make_tables.output,


rule figures:
    input:
        rules.make_figures.output,


rule scan:
    input:
        study_results("scan"),


rule repeats:
    input:
        study_results("repeats"),


rule order:
    input:
        study_results("order"),


rule integrator_swap:
    input:
        study_results("integrator_swap"),


rule masking:
    input:
        study_results("masking"),


rule protocols:
    input:
        study_results("protocols"),


rule evaluators:
    input:
        study_results("evaluators"),
