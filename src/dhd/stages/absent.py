"""What to do about a benchmark that is not there."""

from __future__ import annotations

from pathlib import Path

from dhd.config.load import Study
from dhd.config.models import SimulatedModel
from dhd.layout import StudyPaths


def local_path(study: Study, benchmark: str) -> Path | None:
    """Return where a benchmark lies by its ``path``; None for a remote one."""
    path = study.settings.benchmarks[benchmark].path
    return None if path is None else study.resolve(path)


def absent_fault(study: Study, benchmark: str) -> str:
    """Return what an error says of a benchmark without files: key, value and what to do."""
    path = study.settings.benchmarks[benchmark].path
    if path is None:
        folder = StudyPaths.of(study.settings.study).folder / "downloads" / benchmark
        return (
            f"benchmarks.{benchmark}.remote: not downloaded yet ({folder}); run "
            f"`snakemake … {folder}` with the profile and config file of the study"
        )
    places = " and ".join(dict.fromkeys(map(str, (Path.cwd(), study.root))))
    return (
        f"benchmarks.{benchmark}.path = {path!r}: no such file or folder; {_remedy(study, path)} "
        f"(looked below {places})"
    )


def _remedy(study: Study, path: str) -> str:
    from dhd.simulation.stand_ins import PREFIXES  # not with every start of the workflow

    is_simulated = any(isinstance(model, SimulatedModel) for model in study.models.values())
    if is_simulated and Path(path).stem in PREFIXES.values():
        return f"for stand-ins run `dhd stand-ins --out {Path(path).parent}`"
    return "put the upstream files there or correct the path"
