import sys

from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from snakemake.exceptions import WorkflowError

from dhd.config.load import load_study
from dhd.errors import DhdError
from dhd.layout import StudyPaths
from dhd.prompts import PromptSet
from dhd.schedulers.base import noted, prepare, write_notes
from dhd.schedulers.command_line import is_dry_run, runs_jobs
from dhd.schedulers.controller import refuse_left_lock
from dhd.sites import site_file
from dhd.stages.bundles import study_bundles
from dhd.stages.jobs import check_plan, job_resources, judging_models
from dhd.stages.parts import EVALUATORS, PROTOCOLS, SCAN, study_parts
from dhd.stages.protocols import protocol_families, protocol_turns, turn_models
from dhd.stages.settings import stage_digest
from dhd.staging import absent_models, models_to_stage

ROOT = Path(workflow.basedir)

# A cluster's profile names its site file as a default resource, so that the controller, its
# jobs and the submit command know it alike.
SITE = site_file(getattr(workflow.resource_settings.default_resources, "args", ()))

WORKDIR = Path(workflow.workdir_init)

try:
    STUDY = load_study(
        config,
        source=", ".join(map(str, workflow.configfiles)) or "config",
        root=ROOT,
        site=SITE,
    )
    PromptSet(STUDY.settings.prompts, ROOT)
    BUNDLES = {
        stage: {
            name: study_bundles(STUDY, name, stage)
            for name in STUDY.settings.benchmarks
        }
        for stage in ("deliberation", "judging", "replays", "protocols")
    }
    WARNINGS = []
    if workflow.is_main_process and runs_jobs(sys.argv):
        results = StudyPaths.of(STUDY.settings.study).folder
        refuse_left_lock(WORKDIR, results, sys.argv)
    elif workflow.is_main_process and is_dry_run(sys.argv):
        WARNINGS += [f"a run would be refused: {one}" for one in absent_models(STUDY)]
    if STUDY.site is not None and workflow.is_main_process:
        told, warnings = prepare(STUDY.site, WORKDIR)
        STUDY = replace(STUDY, site=told)
        WARNINGS += warnings + check_plan(STUDY, jobs=workflow.resource_settings.nodes)
    elif STUDY.site is not None:
        STUDY = replace(STUDY, site=noted(STUDY.site, WORKDIR))
    for warning in WARNINGS:
        logger.warning(warning)
except DhdError as error:
    # Not raised: Snakemake would put lines of this file around the message.
    logger.error(str(error))
    sys.exit(1)

# A bundle may take many walltimes: `dhd.stages.tries` ends those that finish no request. Within
# a job, whose walltime may be over, nothing is tried again.
RETRIES = 50 if workflow.is_main_process else 0
RETRIES = None if STUDY.site is None else RETRIES

PATHS = StudyPaths.of(STUDY.settings.study)
STAGED = models_to_stage(STUDY)
FAMILIES = list(STUDY.settings.families)
BENCHMARKS = list(STUDY.settings.benchmarks)
KINDS = ("messages", "outcomes")
REPLAYS = list(STUDY.settings.studies.replays())
PARTS = study_parts(STUDY)
AUDITORS = STUDY.settings.studies.evaluators.models if EVALUATORS in PARTS else []


# Jobs of a stage share few digests; each reads all prompts.
digest = cache(partial(stage_digest, STUDY))


def noted_digest(wildcards):
    """Return the digest of what files follow from: the name of their note says which."""
    stage, *where = wildcards.stage.split("/")
    if stage == "samples":
        replay, family, benchmark = (*where, None)[:3]
        return digest(stage, family=family, benchmark=benchmark, replay=replay)
    if stage == "replays":
        return digest(stage, replay=where[0], family=where[1])
    return digest(stage)


def one_of(names):
    """Return a regex that matches these names and, where there are none, nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


wildcard_constraints:
    model=one_of(FAMILIES),
    integrator=one_of(FAMILIES),
    benchmark=one_of(BENCHMARKS),
    bundle=r"\d{4}",
    replay=one_of(REPLAYS),
    part=one_of(PARTS),
    evaluator=one_of(AUDITORS),
    turn=r"\d{2}",
    key=one_of(STAGED),


def benchmark_source(wildcards):
    """Return the local file or folder of a benchmark; the download's folder for a remote one."""
    entry = STUDY.settings.benchmarks[wildcards.benchmark]
    if entry.path is None:
        return PATHS.folder / "downloads" / wildcards.benchmark
    return STUDY.resolve(entry.path)


def job_threads(job):
    """Return a rule's threads: all for an in-job model, where jobs share one machine."""

    def threads(wildcards):
        asked = job_resources(STUDY, *job(wildcards))
        return workflow.cores if asked["engines"] else 1

    return threads


def resources_of(job):
    """Return a rule's resources; ``job`` gives stage, models and number of shards."""

    def one(key):
        return lambda wildcards: job_resources(STUDY, *job(wildcards))[key]

    asked = job_resources(STUDY, "deliberation", (), 1)
    same = ("engines", "site") if STUDY.site is not None else ()
    return {key: asked[key] if key in same else one(key) for key in asked}


def deliberation_job(wildcards):
    """Return stage, models and number of shards of a deliberation job."""
    shards = BUNDLES["deliberation"][wildcards.benchmark][wildcards.bundle]
    return "deliberation", [STUDY.actor(wildcards.model)], len(shards)


def replay_job(wildcards):
    """Return stage, models and number of shards of a replay job."""
    shards = BUNDLES["replays"][wildcards.benchmark][wildcards.bundle]
    return "replays", [STUDY.actor(wildcards.integrator)], len(shards)


def judging_job(wildcards):
    """Return stage, models and number of shards of a judging job."""
    shards = judging_bundles(wildcards.part)[wildcards.benchmark][wildcards.bundle]
    stage = "judging" if wildcards.part == SCAN else "replays"
    return stage, judging_models(STUDY), len(shards)


def protocol_job(wildcards):
    """Return stage, models and number of shards of one turn of the protocols."""
    turn = getattr(wildcards, "turn", protocol_turns(STUDY, wildcards.model))
    shards = BUNDLES["protocols"][wildcards.benchmark][wildcards.bundle]
    return "protocols", turn_models(STUDY, wildcards.model, int(turn)), len(shards)


def audit_job(wildcards):
    """Return stage, models and number of shards of an audit job."""
    shards = sum(map(len, BUNDLES["judging"][wildcards.benchmark].values()))
    return "audits", [STUDY.models[wildcards.evaluator]], shards


def deliberated(benchmark, bundles, models=FAMILIES, kinds=KINDS):
    """Return the interim tables of some families for some deliberation bundles."""
    return [
        PATHS.bundle("deliberation", model, benchmark) / f"{bundle}.{kind}.parquet"
        for model in models
        for bundle in bundles
        for kind in kinds
    ]


def replayed(replay, benchmark, bundles):
    """Return the interim outcomes of a replay study for some replay bundles."""
    return [
        PATHS.bundle("replays", replay, model, integrator, benchmark)
        / f"{bundle}.outcomes.parquet"
        for model, integrator in STUDY.settings.replay_pairs(replay)
        for bundle in bundles
    ]


def protocol_runs(benchmark):
    """Return the protocol runs of all families on one benchmark."""
    return [
        PATHS.bundle("protocols", model, benchmark, f"{bundle}.protocol_runs.parquet")
        for model in protocol_families(STUDY)
        for bundle in BUNDLES["protocols"][benchmark]
    ]


def turn_before(wildcards):
    """Return the file of the turn before this one; nothing where one job asks all models."""
    turns = protocol_turns(STUDY, wildcards.model)
    turn = int(getattr(wildcards, "turn", turns))
    at = wildcards.model, wildcards.benchmark
    stem = f"{wildcards.bundle}.turn-{turn - 1:02d}.parquet"
    return [PATHS.bundle("protocols", *at, stem)] if turn > 1 else []


def evaluations(benchmark):
    """Return the audit's evaluations of one benchmark."""
    return [
        PATHS.bundle("audits", evaluator, f"{benchmark}.evaluations.parquet")
        for evaluator in AUDITORS
    ]


def judging_bundles(part):
    """Return the bundles, by benchmark, in which a part of the study is judged."""
    return BUNDLES["judging" if part == SCAN else "replays"]


def deliberation_bundles_with(shards, benchmark):
    """Return the deliberation bundles that hold some of these shards."""
    sources = BUNDLES["deliberation"][benchmark].items()
    return [name for name, others in sources if set(shards).intersection(others)]


def bundles_to_judge(wildcards):
    """Return the interim tables that hold the submissions of one judging bundle."""
    part, benchmark, bundle = wildcards.part, wildcards.benchmark, wildcards.bundle
    if part != SCAN:
        return replayed(part, benchmark, [bundle])
    shards = judging_bundles(part)[benchmark][bundle]
    return deliberated(benchmark, deliberation_bundles_with(shards, benchmark))


def pools_to_replay(wildcards):
    """Return the messages that one replay bundle needs."""
    benchmark = wildcards.benchmark
    shards = BUNDLES["replays"][benchmark][wildcards.bundle]
    bundles = deliberation_bundles_with(shards, benchmark)
    return deliberated(benchmark, bundles, [wildcards.model], ["messages"])


def sample_of(wildcards):
    """Return the manifest that says what a replay bundle takes."""
    if wildcards.replay == "masking":
        return PATHS.cases(wildcards.model)
    return PATHS.sample(wildcards.replay, wildcards.model, wildcards.benchmark)


def interim_of(parts):
    """Return the interim tables of some parts of the study."""
    found = []
    for benchmark in BENCHMARKS:
        for part in parts:
            if part == SCAN:
                found += deliberated(benchmark, BUNDLES["deliberation"][benchmark])
            elif part in REPLAYS:
                found += replayed(part, benchmark, BUNDLES["replays"][benchmark])
            elif part == PROTOCOLS:
                found += protocol_runs(benchmark)
            elif part == EVALUATORS:
                found += evaluations(benchmark)
    return found


def judgements_of(parts):
    """Return the judgements of some parts of the study, those of the scan first."""
    return [
        PATHS.bundle("judging", part, benchmark, f"{bundle}.judgements.parquet")
        for part in parts
        if part == SCAN or part in REPLAYS
        for benchmark in BENCHMARKS
        for bundle in judging_bundles(part)[benchmark]
    ]


def study_results(part):
    """Return what a study's target asks for; fails when the config does not have the study."""

    def asked(wildcards):
        if part not in PARTS:
            raise WorkflowError(
                f"studies.{part}: not in the config; add the section to run this study"
            )
        return PATHS.tables(part)

    return asked


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
