"""Cached pools → outcomes of a replay study: one bundle of one family and one integrator."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from dhd.config.load import Study
from dhd.config.studies import IntegratorSwapSettings, OrderSettings, RepeatsSettings, ReplayStudy
from dhd.deliberation import MessageRow, OutcomeRow, Pool, ProtocolSetup
from dhd.errors import RecordsError
from dhd.layout import StudyPaths
from dhd.messages import FIELD_NAMES, POOL_SIZE, ExpertRole, MessageFields
from dhd.problems import Problem
from dhd.prompts import PromptSet
from dhd.requests import Generate
from dhd.stages.bundle_job import BundleJob
from dhd.stages.bundles import ProblemWork, bundle_shards, bundle_work
from dhd.stages.interim import interim_table, outcome_row, read_interim, write_interim
from dhd.stages.manifests import read_cases, read_sample
from dhd.studies import masking_schedule, order_schedule, repeats_schedule, replay_schedule
from dhd.studies.schedules import Schedule

#: The schedules of one problem: one a case in masking, else a single one.
Schedules = Mapping[str, tuple[Schedule, ...]]
Replayed = tuple[Problem, tuple[OutcomeRow, ...]]


@dataclass(frozen=True, slots=True)
class ReplayJob:
    """Which bundle of which study is replayed.

    Attributes
    ----------
    replay
        The study.
    model, integrator
        The families that wrote the pools and that integrate.
    benchmark, bundle
        Which problems.
    manifest
        The study's sample.
    pools
        Interim messages of the bundles that hold these problems.
    """

    replay: ReplayStudy
    model: str
    integrator: str
    benchmark: str
    bundle: str
    manifest: Path
    pools: tuple[Path, ...]
    kind: Literal["replays"] = "replays"

    def prepare(self, study: Study, handover: bytes | None = None) -> BundleJob[Replayed, pa.Table]:
        """Prepare the replays of the bundle's sampled problems; their outcomes are written.

        Raises
        ------
        RecordsError
            When a sampled problem is no longer the benchmark's, or its pool is not among
            ``pools``.
        """
        schedules = replay_schedules(study, self)
        messages = _read_pools(self.pools, schedules)
        setup = replay_setup(study)
        paths = StudyPaths.of(study.settings.study)
        parts = (self.replay, self.model, self.integrator, self.benchmark)
        work = bundle_work(
            study,
            bundle_shards(study, self.benchmark, self.bundle, stage="replays"),
            ProblemWork(
                task=lambda problem: partial(
                    _replay_problem,
                    problem,
                    _pool_of(problem.problem_uid, messages),
                    schedules[problem.problem_uid],
                    setup,
                ),
                gather=partial(_outcome_table, self),
                calls=lambda problem: sum(map(len, schedules[problem.problem_uid])),
            ),
            journals=paths.journals(*parts),
            among=schedules,
            manifest=self.manifest,
        )
        out = paths.bundle("replays", *parts) / f"{self.bundle}.outcomes.parquet"
        return BundleJob(
            stage="/".join(("replays", *parts)),
            bundle=self.bundle,
            verb="replay",
            work=work,
            models={"integrator": study.actor(self.integrator)},
            write=lambda tables: write_interim("outcomes", tables, out),
        )


def replay_setup(study: Study) -> ProtocolSetup:
    """Return the setup of all replay studies: the scan's, with their own integrator sampling."""
    setup = ProtocolSetup.of(study.settings, PromptSet(study.settings.prompts, study.root))
    sampling = study.settings.studies.integrator
    if sampling is None:
        return setup
    return replace(setup, decoding={**setup.decoding, "integrator": sampling.as_decoding()})


def replay_schedules(study: Study, job: ReplayJob) -> Schedules:
    """Return the calls of every sampled problem of a benchmark, by ``problem_uid``."""
    settings = study.settings.studies
    if job.replay == "masking" and settings.masking is not None:
        found: dict[str, tuple[Schedule, ...]] = {}
        for case in read_cases(job.manifest, job.benchmark):
            schedule = masking_schedule(case.message_index, settings.masking.repetitions)
            found[case.problem_uid] = (*found.get(case.problem_uid, ()), schedule)
        return found
    sample = read_sample(job.manifest)
    match settings.replays()[job.replay]:
        case OrderSettings(blocks=blocks):
            return {
                uid: (order_schedule(blocks, seed=settings.seed, label=f"{job.model}/{uid}"),)
                for uid in sample
            }
        case RepeatsSettings(blocks=blocks) | IntegratorSwapSettings(blocks=blocks):
            return dict.fromkeys(sample, (repeats_schedule(blocks, job.replay),))
        case other:
            raise TypeError(f"{job.replay}: has no schedule for {type(other).__name__}")


async def _replay_problem(
    problem: Problem,
    pool: Pool,
    schedules: Sequence[Schedule],
    setup: ProtocolSetup,
    generate: Generate,
) -> Replayed:
    replayed = await asyncio.gather(
        *(replay_schedule(problem, pool, schedule, setup, generate) for schedule in schedules)
    )
    return problem, tuple(outcome for outcomes in replayed for outcome in outcomes)


def _outcome_table(job: ReplayJob, results: Iterable[Replayed]) -> pa.Table:
    return interim_table(
        "outcomes",
        (
            outcome_row(job.model, job.integrator, problem.problem_uid, outcome)
            for problem, outcomes in results
            for outcome in outcomes
        ),
    )


def _read_pools(paths: Iterable[Path], wanted: Iterable[str]) -> dict[str, list[MessageRow]]:
    """Return the messages of the wanted problems, by ``problem_uid``."""
    uids = pa.array(wanted, pa.string())
    pools: dict[str, list[MessageRow]] = {}
    for path in paths:
        table = read_interim("messages", path)
        for row in table.filter(pc.is_in(table["problem_uid"], uids)).to_pylist():
            pools.setdefault(row["problem_uid"], []).append(_message(row))
    return pools


def _pool_of(uid: str, pools: Mapping[str, list[MessageRow]]) -> Pool:
    messages = sorted(pools.get(uid, ()), key=lambda message: message.message_index)
    if [message.message_index for message in messages] != list(range(1, POOL_SIZE + 1)):
        raise RecordsError(
            f"problem {uid!r} is in the sample, but its pool is not in the messages given; "
            "delete the study's samples folder and run again"
        )
    return Pool(tuple(messages))


def _message(row: Mapping[str, Any]) -> MessageRow:
    return MessageRow(
        message_index=row["message_index"],
        role=ExpertRole(row["role_name"] or "", row["role_lens"] or ""),
        fields=MessageFields(**{name: row[name] for name in FIELD_NAMES}),
        answer=row["proposed_answer_extracted"],
        status=row["status"],
        reason=row["reason"],
    )
