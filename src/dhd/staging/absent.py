"""Models that a study's jobs could not load: found before the first job."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dhd.config.load import Study
from dhd.config.models import VllmModel
from dhd.config.reading import faults_text
from dhd.errors import ConfigError, ModelError
from dhd.layout import StudyPaths
from dhd.staging.fetch import check_pinned
from dhd.staging.locate import is_repository, weights_folder
from dhd.staging.stage import models_to_stage


def refuse_absent_models(study: Study) -> None:
    """Raise when a model of a study can neither be loaded nor be fetched.

    Looked at are the models that run in jobs: those in a folder have to be whole, repositories
    need their commit, with which they are fetched before the jobs. A model that was staged
    before counts as there: jobs that find all in their journals do not need it any more.

    Raises
    ------
    ConfigError
        All of them in one message: file, key, value and what would be right.
    """
    faults = absent_models(study)
    if faults:
        raise ConfigError(faults_text(faults, study.settings.models_file))


def absent_models(study: Study) -> list[str]:
    """Return what :func:`refuse_absent_models` would say, a line a model."""
    return list(_faults(study))


def _faults(study: Study) -> Iterator[str]:
    paths = StudyPaths.of(study.settings.study)
    for key, model in models_to_stage(study).items():
        if paths.staged(key).exists():
            continue
        if is_repository(model) and model.revision:
            try:
                check_pinned(key, model)
            except ConfigError as error:
                yield str(error)
        else:
            yield from _folder_fault(key, model)


def _folder_fault(key: str, model: VllmModel) -> Iterator[str]:
    what = f"models.{key}.path = {model.path!r}"
    if not Path(model.path).expanduser().is_dir():
        yield (
            f"{what}: no such folder (below {Path.cwd()}; the demo's comes with `make model`); "
            "give the folder with config.json, weights and tokenizer, or a repository with its "
            f"commit in models.{key}.revision"
        )
        return
    try:
        weights_folder(model, None)
    except ModelError as error:
        yield f"{what}: {error}"
