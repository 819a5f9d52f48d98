"""The jobs of a study that a cluster's scheduler gets, and whether its queues take them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from dhd.config.load import Study
from dhd.config.models import ModelSettings, VllmModel
from dhd.errors import ConfigError, ModelError
from dhd.sites.check import (
    idle_gpus,
    memory_faults,
    model_faults,
    queue_faults,
    sharing_faults,
)
from dhd.sites.jobs import JobSize, cpu_job, engine_job, engines
from dhd.sites.site import Site
from dhd.stages.bundles import STAGES, Stage, shards_per_node, study_bundles
from dhd.stages.parts import EVALUATORS, PROTOCOLS, study_parts
from dhd.stages.protocols import protocol_families, protocol_turns, turn_models
from dhd.staging import weights_folder

JobStage = Stage | Literal["audits"]


def job_size(
    study: Study, site: Site, stage: JobStage, models: Sequence[ModelSettings], shards: int
) -> JobSize:
    """Return what a job of a stage asks of the scheduler.

    Parameters
    ----------
    models
        The models that it asks; none where rules judge alone.
    shards
        Shards of its bundle; all of a benchmark in ``audits``.
    """
    if not _has_engines(models, site):
        return cpu_job(site)
    return engine_job(
        site, shards, shards_per_node(study, "judging" if stage == "audits" else stage)
    )


def job_resources(
    study: Study, stage: JobStage, models: Sequence[ModelSettings], shards: int
) -> dict[str, Any]:
    """Return the resources of a rule's job: engines, nodes, what the site's scheduler needs.

    The keys are the same for all jobs of a study. ``engines`` counts against the engines of
    one machine and is 0 on a cluster, where every job has nodes of its own.
    """
    if study.site is None:
        return {"engines": int(any(isinstance(model, VllmModel) for model in models)), "nodes": 1}
    size = job_size(study, study.site, stage, models, shards)
    if study.site.scheduler == "slurm":
        from dhd.schedulers.slurm import job_resources as slurm_resources

        has_engines = _has_engines(models, study.site)
        asked = slurm_resources(
            study.site, nodes=size.nodes, minutes=size.minutes, engines=has_engines
        )
        return {"engines": 0, "site": study.site.file, **asked}
    return {
        "engines": 0,
        "site": study.site.file,
        "nodes": size.nodes,
        "select": size.select,
        "queue": size.queue,
        "runtime": size.minutes,
    }


def judging_models(study: Study) -> tuple[ModelSettings, ...]:
    """Return the models that a judging job asks: the evaluator, or none."""
    evaluator = study.evaluator()
    return () if evaluator is None else (evaluator,)


def _has_engines(models: Iterable[ModelSettings], site: Site) -> bool:
    return any(engines(model, site) for model in models)


def check_plan(study: Study, *, jobs: int | None = None) -> list[str]:
    """Check the planned jobs against the rules of their queues; return warnings.

    Parameters
    ----------
    jobs
        Jobs that Snakemake keeps submitted at a time; None where it does not say.

    Raises
    ------
    ConfigError
        When a job breaks a rule of its queue or an engine does not fit a node; says what would.
    """
    site = study.site
    if site is None:
        return []
    sizes, together = set[JobSize](), list[dict[str, ModelSettings]]()
    names = {id(model): name for name, model in study.models.items()}
    for stage, asked, shards in _planned(study):
        sizes.add(job_size(study, site, stage, asked, shards))
        together.append({names[id(model)]: model for model in asked})
    models = {name: model for job in together for name, model in job.items()}
    faults = [
        *model_faults(site, models),
        *memory_faults(site, models, _staged_weights(site, models)),
        *sharing_faults(together),
        *queue_faults(site, sizes, jobs=jobs),
        *_short_walltimes(study, sizes),
    ]
    if faults:
        lines = "".join(f"\n  {fault}" for fault in faults)
        raise ConfigError(f"{site.file}: the plan does not fit the machine:{lines}")
    return list(idle_gpus(site, models))


def _staged_weights(site: Site, models: Mapping[str, ModelSettings]) -> dict[str, int]:
    """Return the bytes of the weights of models that are staged; vLLM reads the top folder."""
    found = {}
    for name, model in models.items():
        if isinstance(model, VllmModel):
            try:
                folder = weights_folder(model, site.model_folder)
            except ModelError:  # a rule stages it, and says what is wrong, before any job
                continue
            found[name] = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    return found


def _short_walltimes(study: Study, sizes: Iterable[JobSize]) -> Iterator[str]:
    """Yield the walltimes in which a job would stop before it has asked anything."""
    journal = study.settings.journal
    margin_s = journal.walltime_margin_s + journal.longest_request_s
    for walltime in sorted({size.walltime for size in sizes if 60 * size.minutes <= margin_s}):
        yield (
            f"walltime = {walltime!r}: jobs stop asking {margin_s:.0f} s before their end "
            "(journal.walltime_margin_s and longest_request_s of the study), so they would ask "
            "nothing; give them more"
        )


def _planned(study: Study) -> Iterator[tuple[JobStage, tuple[ModelSettings, ...], int]]:
    """Yield stage, models and shards of every job that asks or judges."""
    evaluator, parts = judging_models(study), study_parts(study)
    replays = study.settings.studies.replays()
    auditors = study.settings.studies.evaluators
    for benchmark in study.settings.benchmarks:
        sizes = {
            stage: [len(shards) for shards in study_bundles(study, benchmark, stage).values()]
            for stage in STAGES
        }
        for family in study.settings.families:
            actor = (study.actor(family),)
            yield from (("deliberation", actor, n) for n in sizes["deliberation"])
        yield from (("judging", evaluator, n) for n in sizes["judging"])
        for replay in replays:
            integrators = {other for _, other in study.settings.replay_pairs(replay)}
            asked = [(study.actor(family),) for family in integrators]
            yield from (("replays", models, n) for models in asked for n in sizes["replays"])
            yield from (("replays", evaluator, n) for n in sizes["replays"])
        if PROTOCOLS in parts:
            for models in _protocol_jobs(study):
                yield from (("protocols", models, n) for n in sizes["protocols"])
        if EVALUATORS in parts and auditors is not None:
            asked = [(study.models[name],) for name in auditors.models]
            yield from (("audits", models, sum(sizes["judging"])) for models in asked)


def _protocol_jobs(study: Study) -> Iterator[tuple[ModelSettings, ...]]:
    """Yield the models of each turn of every family's protocols."""
    for family in protocol_families(study):
        turns = range(1, protocol_turns(study, family) + 1) or (0,)
        yield from (turn_models(study, family, turn) for turn in turns)
