"""Staging one model: fetch it if need be, check it, note what was found."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dhd.config.load import Study
from dhd.config.models import VllmModel
from dhd.errors import ModelError
from dhd.files import replacing
from dhd.staging.fetch import check_pinned, download
from dhd.staging.locate import (
    cache_folders,
    completion_note,
    is_repository,
    snapshot_folder,
    weights_folder,
)
from dhd.staging.verify import model_checksums
from dhd.wording import number_of


def models_to_stage(study: Study) -> dict[str, VllmModel]:
    """Return the models of a study that run in its jobs, by key."""
    settings = study.settings
    keys = [family.actor for family in settings.families.values()]
    keys += [settings.judging.evaluator or "", *settings.studies.named_models().values()]
    models = {key: study.models[key] for key in dict.fromkeys(keys) if key}
    return {key: model for key, model in models.items() if isinstance(model, VllmModel)}


def stage_model(study: Study, key: str, out: Path) -> str:
    """Make sure that a model is there and whole, and note its files; return a line for the log.

    Parameters
    ----------
    study
        The study; its site says where models lie.
    key
        Key of the model.
    out
        Where the note goes: a JSON file with the folder and each file's size and sha256.

    Raises
    ------
    ConfigError
        When a repository's revision is not pinned.
    ModelError
        When the model cannot be had, or a file is not what its repository states.
    """
    model = models_to_stage(study)[key]
    model_folder = None if study.site is None else study.site.model_folder
    folder = _folder(key, model, model_folder)
    files = model_checksums(folder)
    local = Path(model.path).expanduser()
    note = {
        "model": key,
        "path": model.path,
        "revision": model.revision,
        "folder": str(folder),
        "files": {one.name: {k: v for k, v in asdict(one).items() if k != "name"} for one in files},
    }
    _write(note, out)
    size = sum(one.bytes for one in files) / 1e9
    checked = _checked(len(files), sum(one.stated for one in files), is_local=folder == local)
    return f"{key}: {number_of(len(files), 'file')}, {size:.1f} GB in {folder}; {checked}"


def _checked(files: int, stated: int, *, is_local: bool) -> str:
    """Return what was checked of a model's files, and what was not."""
    there = "config.json and all weights that an index names are there"
    if is_local:
        return f"{there}; nobody states checksums of a local folder, so none was compared"
    if stated == files:
        return f"{there}, all checksums are those that the repository states"
    return (
        f"{there}; {stated} checksums are those that the repository states, none is stated of "
        f"the other {files - stated}"
    )


def _folder(key: str, model: VllmModel, model_folder: str | None) -> Path:
    """Return a model's folder, after fetching what is missing of a repository.

    The hub alone knows what an unfinished download lacks. It is not asked about one that is
    known to be complete, nor about a cache of others, where nothing could be added.
    """
    if not is_repository(model):
        return weights_folder(model, model_folder)
    check_pinned(key, model)
    found = snapshot_folder(model, model_folder)
    cache = cache_folders(model_folder)[0] if found is None else found.parents[2]
    if found is not None and (
        completion_note(found).exists() or not os.access(found.parents[1], os.W_OK)
    ):
        with contextlib.suppress(ModelError):
            return weights_folder(model, model_folder)
    download(model, cache)
    return weights_folder(model, model_folder)


def _write(note: Mapping[str, Any], out: Path) -> None:
    with replacing(out) as temporary:
        temporary.write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
