"""Faults of the ``studies`` section that only several settings together show."""

from __future__ import annotations

from collections.abc import Iterator

from dhd.config.studies import StudiesSettings
from dhd.config.study import StudySettings


def study_faults(settings: StudySettings) -> list[str]:
    """Return what is wrong with the studies, one line a fault, empty when nothing is."""
    studies = settings.studies
    return [
        *_unknown_names(settings),
        *_lacking_repeats(studies),
        *_beyond_repeats(studies),
        *_vain_swaps(studies),
        *_protocol_faults(settings),
    ]


def _unknown_names(settings: StudySettings) -> Iterator[str]:
    studies = settings.studies
    named = {
        f"studies.{name}.families": families
        for name, study in studies.replays().items()
        if (families := getattr(study, "families", None)) is not None
    }
    if studies.integrator_swap is not None:
        for model, integrators in studies.integrator_swap.integrators.items():
            named[f"studies.integrator_swap.integrators.{model}"] = [model, *integrators]
    for key, families in named.items():
        for family in families:
            if family not in settings.families:
                known = ", ".join(settings.families)
                yield f"{key}: {family!r} is no family of this study; has {known}"
    if studies.repeats is not None:
        for benchmark in studies.repeats.stratified or ():
            if benchmark not in settings.benchmarks:
                known = ", ".join(settings.benchmarks)
                yield f"studies.repeats.stratified: no benchmark {benchmark!r}; has {known}"


def _lacking_repeats(studies: StudiesSettings) -> Iterator[str]:
    if studies.repeats is None:
        for name in studies.replays():
            yield (
                f"studies.{name}: needs studies.repeats, which its problems are drawn from and "
                "its results are compared with"
            )


def _beyond_repeats(studies: StudiesSettings) -> Iterator[str]:
    """Problems and families must be among those of the repeats."""
    repeats = studies.repeats
    if repeats is None:
        return
    for name, study in studies.replays().items():
        problems = getattr(study, "problems", 0)
        if problems > repeats.problems:
            yield (
                f"studies.{name}.problems = {problems}: more than the {repeats.problems} of "
                "studies.repeats.problems, which they are drawn from"
            )
        if repeats.families is None:
            continue
        swaps = getattr(study, "integrators", None)
        for family in swaps or getattr(study, "families", None) or ():
            if family not in repeats.families:
                yield f"studies.{name}: family {family!r} is not in studies.repeats.families"


def _vain_swaps(studies: StudiesSettings) -> Iterator[str]:
    if studies.integrator_swap is not None:
        for model, integrators in studies.integrator_swap.integrators.items():
            if model in integrators:
                yield (
                    f"studies.integrator_swap.integrators.{model}: {model!r} integrates its own "
                    "pools in studies.repeats; name other families"
                )


def _protocol_faults(settings: StudySettings) -> Iterator[str]:
    protocols = settings.studies.protocols
    if protocols is None:
        return
    for family in protocols.families or ():
        if family not in settings.families:
            known = ", ".join(settings.families)
            yield f"studies.protocols.families: {family!r} is no family of this study; has {known}"
    if protocols.hint_writer is not None and settings.judging.method != "rules":
        yield (
            f"studies.protocols.hint_writer = {protocols.hint_writer!r}: hints are written by "
            "judging.evaluator; remove it"
        )
