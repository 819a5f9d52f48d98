"""What a study has to do, noted by the controller for whoever asks how far it is.

The note lets `dhd status` count what is not begun without reading benchmarks or settings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dhd.errors import RecordsError
from dhd.files import replacing

_FILE = "plan.json"


@dataclass(frozen=True, slots=True)
class BundlePlan:
    """One bundle: the names of its shards, and the files that exist when it is finished."""

    name: str
    shards: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StagePlan:
    """One stage on one benchmark.

    Attributes
    ----------
    label
        Its folder below ``bundles/``, e.g. ``deliberation/oss/jeebench``; status files
        name it as their stage.
    group
        The line that it is counted in, e.g. ``deliberation oss``.
    journals
        Folder of its journals below the study's folder; judgings of several parts share one.
    model
        Key of the model that answers; empty where none is asked.
    settings
        Digest of the settings; a shard that finished under another one is not finished.
    sampled
        Whether it works on a sample, so that shards without a problem of it stay empty.
    problems
        Problems (or cases) that it works on; None while that is not known.
    requests_per_problem
        Requests of one problem where all go well; None where outcomes decide.
    bundles
        Its bundles.
    """

    label: str
    group: str
    journals: str
    model: str
    settings: str
    sampled: bool
    problems: float | None
    requests_per_problem: float | None
    bundles: tuple[BundlePlan, ...]


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """What a study has to do, and how it is run.

    Attributes
    ----------
    study
        Its name.
    stale_after_s
        Age after which a heartbeat is stale.
    stages
        All its stages.
    configs
        Config files of its last run, relative to the folder that it ran in where they are below.
    profile
        Snakemake's profile in that run; empty where it had none.
    """

    study: str
    stale_after_s: float
    stages: tuple[StagePlan, ...] = ()
    configs: tuple[str, ...] = ()
    profile: str = ""

    def run_with(self, configs: Iterable[Path], profile: str) -> StudyPlan:
        """Return the plan with a note of how it is run."""
        here = Path.cwd()
        places = (Path(path) for path in configs)
        shown = (one.relative_to(here) if one.is_relative_to(here) else one for one in places)
        return replace(self, configs=tuple(map(str, shown)), profile=profile)


def plan_path(folder: Path) -> Path:
    """Return where the plan of the study in ``folder`` is noted."""
    return folder / "status" / _FILE


def write_plan(plan: StudyPlan, folder: Path) -> None:
    """Note the plan of the study in ``folder``."""
    with replacing(plan_path(folder)) as temporary:
        temporary.write_text(json.dumps(asdict(plan)) + "\n", encoding="utf-8")


def read_plan(folder: Path) -> StudyPlan:
    """Return the plan of the study in ``folder``.

    Raises
    ------
    RecordsError
        When there is none, or it is not one of this version.
    """
    path = plan_path(folder)
    try:
        return _plan(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise RecordsError(
            f"{path}: no such file; the first `snakemake` run of the study writes it"
        ) from None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise RecordsError(
            f"{path}: cannot be read ({error}); the next `snakemake` run writes it anew"
        ) from error


def noted_studies(results: Path) -> Sequence[Path]:
    """Return the folders of all studies in ``results``, the one that was run last at the end.

    Those without a plan, run by an earlier version, come first.
    """
    folders = [path for path in results.glob("*") if path.is_dir()]
    return sorted(folders, key=lambda folder: (_age(plan_path(folder)), folder.name))


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _plan(document: dict[str, Any]) -> StudyPlan:
    stages = tuple(
        StagePlan(**{**stage, "bundles": tuple(map(_bundle, stage["bundles"]))})
        for stage in document["stages"]
    )
    configs = tuple(map(str, document.get("configs", ())))
    return StudyPlan(**{**document, "stages": stages, "configs": configs})


def _bundle(document: dict[str, Any]) -> BundlePlan:
    return BundlePlan(document["name"], tuple(document["shards"]), tuple(document["outputs"]))
