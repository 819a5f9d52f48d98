"""Records of the scan → the saved answers that all evaluators judge again (Appendix K)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from dhd.analysis.context import AnalysisContext
from dhd.audits import AuditSubmission, Triplet, balanced, saved_submissions, saved_triplets
from dhd.config.audits import EvaluatorsSettings
from dhd.config.load import Study
from dhd.errors import ConfigError
from dhd.records import load_records
from dhd.stages.manifests import earlier_draw, write_manifest

_PARTS: Final = 3
"""Submissions of a triplet."""


@dataclass(frozen=True, slots=True)
class _Earlier:
    """Submissions of an earlier choice: first those of its sample, in their order."""

    submissions: Sequence[AuditSubmission] = ()

    @classmethod
    def read(cls, path: Path, seed: int) -> _Earlier:
        """Read a manifest; nothing where there is none, or it was drawn by another seed."""
        draw = earlier_draw(path, {"seed": seed})
        rows = (*draw["submissions"], *draw.get("set_aside", ())) if draw else ()
        return cls([AuditSubmission(**row) for row in rows])

    def unchanged(self, current: Iterable[AuditSubmission]) -> list[AuditSubmission]:
        """Return those whose answers are still the same: evaluators judged the same inputs."""
        present = set(current)
        return [one for one in self.submissions if one in present]


def choose_audit(study: Study, records: Path, out: Path) -> str:
    """Choose what all evaluators judge and write it; return lines for the log.

    Submissions are balanced by family, benchmark and kind, triplets of each family by
    benchmark and six cells. What ``out`` holds from an earlier choice stays, as far as the
    balance over the answers that there are now allows.

    Parameters
    ----------
    records
        Records folder of the scan.
    out
        Where the manifest goes.
    """
    settings, seed = _settings(study), study.settings.studies.seed
    context = AnalysisContext(load_records(records), study.settings.analysis)
    earlier = _Earlier.read(out, seed)
    submissions = _choose_submissions(context, settings.submissions, seed, earlier)
    triplets = {
        family: _choose_triplets(context, family, settings.triplets, seed, earlier)
        for family in study.settings.families
    }
    chosen = [
        one for some in triplets.values() for triplet in some for one in triplet.submissions()
    ]
    taken = {*submissions, *chosen}
    write_manifest(
        out,
        {
            "study": "evaluators",
            "seed": seed,
            "wanted": {"submissions": settings.submissions, "triplets": settings.triplets},
            "found": {
                "submissions": len(submissions),
                "triplets": {family: len(some) for family, some in triplets.items()},
            },
            "triplet_cells": {family: _cells(some) for family, some in triplets.items()},
            "submissions": [asdict(one) for one in [*submissions, *chosen]],
            "set_aside": [asdict(one) for one in earlier.submissions if one not in taken],
        },
    )
    lines = [f"{len(submissions)} of {settings.submissions} wanted submissions"]
    lines += [
        f"{len(some)} of {settings.triplets} wanted triplets of {family}"
        for family, some in triplets.items()
    ]
    return "\n".join(lines)


def _settings(study: Study) -> EvaluatorsSettings:
    evaluators = study.settings.studies.evaluators
    if evaluators is None:
        raise ConfigError("studies.evaluators: not in the config; add the section to run it")
    return evaluators


def _choose_submissions(
    context: AnalysisContext, count: int, seed: int, earlier: _Earlier
) -> list[AuditSubmission]:
    saved = list(saved_submissions(context.records))
    return balanced(
        saved,
        count,
        stratum=lambda one: (one.model, one.benchmark, one.kind),
        group=lambda one: one.problem_uid,
        key=lambda one: one.submission_id,
        seed=seed,
        label="evaluators/submissions",
        earlier=[one.submission_id for one in earlier.unchanged(saved)],
    )


def _choose_triplets(
    context: AnalysisContext, family: str, count: int, seed: int, earlier: _Earlier
) -> list[Triplet]:
    scan = context.scans.get(family)
    saved = [] if scan is None else list(saved_triplets(context.records, scan))
    kept = Counter(
        one.triplet_id
        for one in earlier.unchanged(one for triplet in saved for one in triplet.submissions())
    )
    return balanced(
        saved,
        count,
        stratum=lambda one: (one.benchmark, one.cell),
        group=lambda one: one.problem_uid,
        key=lambda one: one.triplet_id,
        seed=seed,
        label=f"evaluators/triplets/{family}",
        earlier=[str(name) for name, parts in kept.items() if parts == _PARTS],
    )


def _cells(triplets: Iterable[Triplet]) -> Mapping[str, int]:
    """Return how many triplets each benchmark and cell gave, by ``benchmark/cell``."""
    return dict(sorted(Counter(f"{one.benchmark}/{one.cell}" for one in triplets).items()))
