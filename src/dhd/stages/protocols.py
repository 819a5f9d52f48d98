"""Problems → runs of the end-to-end protocols: one bundle of one family, all protocols together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import pandas as pd

from dhd.answers import Comparison
from dhd.config.load import Study
from dhd.config.models import ModelSettings, VllmModel
from dhd.config.protocols import ProtocolName, ProtocolsSettings
from dhd.driver import Elsewhere
from dhd.errors import ConfigError, IncompleteError
from dhd.layout import StudyPaths
from dhd.problems import Problem
from dhd.prompts import PromptSet
from dhd.prompts.protocols import ProtocolPrompts
from dhd.protocols import (
    EndToEndSetup,
    Limits,
    ProtocolRun,
    call_bounds,
    run_protocol,
    submission_count,
    together,
)
from dhd.records import TABLES, write_table
from dhd.requests import Generate, Role
from dhd.stages.bundle_job import BundleJob
from dhd.stages.bundles import ProblemWork, bundle_shards, bundle_work
from dhd.stages.manifests import read_sample
from dhd.stages.rules import Rules

#: Roles that turns ask one after the other: the actor in odd turns, the evaluator in even ones.
_ROLES: Final[tuple[Role, Role]] = ("integrator", "evaluator")
#: Runs of one problem by protocol; None where a run waits for a model that another job asks.
Runs = tuple[ProtocolRun | None, ...]
_COLUMNS: Final = (
    *(column.name for column in TABLES["protocol_runs"].columns),
    *("status", "reason", "rounds", "evaluator_calls", "answered_by", "judged_by"),
)


@dataclass(frozen=True, slots=True)
class ProtocolJob:
    """Which bundle of which family runs, and in which turn.

    All turns of a bundle share its journals. A turn asks one model only and replays what the
    other answered before; after the last one every run has ended.

    Attributes
    ----------
    family, benchmark, bundle
        What is worked on.
    manifest
        The sample of problems, the same for all families.
    out
        Where the runs that ended go.
    turn
        From 1 to `protocol_turns` where actor and evaluator are asked by turns; 0 where one
        job asks both.
    """

    family: str
    benchmark: str
    bundle: str
    manifest: Path
    out: Path
    turn: int = 0
    kind: Literal["protocols"] = "protocols"

    def prepare(
        self, study: Study, handover: bytes | None = None
    ) -> BundleJob[tuple[Problem, Runs], list[tuple[Problem, Runs]]]:
        """Prepare all protocols on the bundle's problems; the runs that ended are written."""
        protocols, setup = _settings(study), protocol_setup(study, self.family)
        models = protocol_models(study, self.family)
        asked = turn_roles(self.turn)
        rules = Rules(study)
        compare = None if study.settings.judging.method == "llm" else rules.compare
        parts = (self.family, self.benchmark)
        calls = sum(call_bounds(name, setup).fewest for name in protocols.names)
        work = bundle_work(
            study,
            bundle_shards(study, self.benchmark, self.bundle, stage="protocols"),
            ProblemWork(
                partial(_task, tuple(protocols.names), setup, compare), list, lambda _: calls
            ),
            journals=StudyPaths.of(study.settings.study).journals("protocols", *parts),
            among=frozenset(read_sample(self.manifest)),
            manifest=self.manifest,
        )
        is_last = self.turn in (0, protocol_turns(study, self.family))
        turn = [] if is_last else [f"turn-{self.turn:02d}"]
        return BundleJob(
            stage="/".join(("protocols", *parts, *turn)),
            bundle=self.bundle,
            verb="protocols",
            work=work,
            models=models,
            write=partial(_write, self, is_last),
            elsewhere=frozenset(role for role in models if role not in asked),
            close=rules.close,
        )


def protocol_families(study: Study) -> tuple[str, ...]:
    """Return the families whose protocols run; none when the study does not have them."""
    protocols = study.settings.studies.protocols
    if protocols is None:
        return ()
    return tuple(protocols.families or study.settings.families)


def protocol_models(study: Study, family: str) -> dict[Role, ModelSettings]:
    """Return the models of a family's protocols by role; without evaluator where rules do all."""
    models: dict[Role, ModelSettings] = {"integrator": study.actor(family)}
    protocols = _settings(study)
    key = study.settings.judging.evaluator or protocols.hint_writer
    if key is not None:
        models["evaluator"] = study.models[key]
    return models


def protocol_turns(study: Study, family: str) -> int:
    """Return how many jobs take turns on a bundle; 0 where one job asks actor and evaluator.

    A run with n submissions takes 2n turns: each is made in the actor's turn and judged in the
    evaluator's (PER: attempt, judge, repair, judge again in each round).
    """
    actor, *others = protocol_models(study, family).values()
    protocols = _settings(study)
    if not others or repr(actor) == repr(others[0]):
        return 0
    are_apart = isinstance(actor, VllmModel) and isinstance(others[0], VllmModel)
    if not (are_apart if protocols.alternate is None else protocols.alternate):
        return 0
    limits = Limits.of(protocols, study.settings.judging.max_attempts)
    return 2 * max(submission_count(name, limits) for name in protocols.names)


def turn_roles(turn: int) -> tuple[Role, ...]:
    """Return the roles that a turn asks; all for turn 0, where one job asks all."""
    return (_ROLES[(turn - 1) % 2],) if turn else _ROLES


def turn_models(study: Study, family: str, turn: int) -> tuple[ModelSettings, ...]:
    """Return the models that a turn asks, each once; those of all roles for turn 0."""
    models = protocol_models(study, family)
    asked = [models[role] for role in turn_roles(turn) if role in models]
    return tuple({repr(model): model for model in asked}.values())


def protocol_setup(study: Study, family: str) -> EndToEndSetup:
    """Return the setup of a family's protocols."""
    settings = study.settings
    return EndToEndSetup.of(
        family,
        settings,
        _settings(study),
        PromptSet(settings.prompts, study.root),
        ProtocolPrompts(settings.prompts, study.root),
    )


def _write(job: ProtocolJob, is_last: bool, results: list[list[tuple[Problem, Runs]]]) -> None:
    """Write the runs that ended; all must have, in the last turn."""
    found = [one for shard in results for one in shard]
    unfinished = sum(run is None for _, runs in found for run in runs)
    if unfinished and is_last:
        raise IncompleteError(
            f"protocols {job.family}/{job.benchmark}/{job.bundle}: {unfinished} run(s) wait for a "
            "model that an earlier turn should have asked; delete the bundle's turn files and run "
            "again"
        )
    rows = [_row(job.family, problem, run) for problem, runs in found for run in runs if run]
    frame = pd.DataFrame(rows, columns=list(_COLUMNS), dtype=object)
    write_table("protocol_runs", frame, job.out)


def _settings(study: Study) -> ProtocolsSettings:
    protocols = study.settings.studies.protocols
    if protocols is None:
        raise ConfigError("studies.protocols: not in the config; add the section to run it")
    return protocols


def _task(
    names: Sequence[ProtocolName],
    setup: EndToEndSetup,
    compare: Callable[[Problem, str], Awaitable[Comparison]] | None,
    problem: Problem,
) -> Callable[[Generate], Awaitable[tuple[Problem, Runs]]]:
    """Return the coroutine function that runs the protocols on one problem, side by side."""

    async def run(name: ProtocolName, generate: Generate) -> ProtocolRun | None:
        try:
            return await run_protocol(name, problem, setup, generate, compare)
        except Elsewhere:
            return None

    async def run_all(generate: Generate) -> tuple[Problem, Runs]:
        return problem, tuple(await together(*(run(name, generate) for name in names)))

    return run_all


def _row(family: str, problem: Problem, run: ProtocolRun) -> dict[str, Any]:
    return {
        **asdict(run),
        "model": family,
        "problem_uid": problem.problem_uid,
        "correct": None if run.correct is None else int(run.correct),
    }
