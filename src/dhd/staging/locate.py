"""Where a model's files lie, found from files alone: compute nodes have no internet.

A repository is looked for in caches of the layout that Hugging Face's tools share,
``models--<owner>--<name>/snapshots/<commit>``, so that a site's common cache is used as it is.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from dhd.config.models import VllmModel
from dhd.errors import ModelError

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_DEFAULT_BRANCH = "main"


def weights_folder(model: VllmModel, model_folder: str | None) -> Path:
    """Return the folder with a model's files.

    Parameters
    ----------
    model
        Its ``path`` is a local folder, or a repository whose ``revision`` is taken.
    model_folder
        A Hugging Face home (or its ``hub`` folder); None for that of the environment.

    Raises
    ------
    ModelError
        When the folder is not there, or weights that its index names are missing.
    """
    local = Path(model.path).expanduser()
    if local.is_dir():
        return _complete(local)
    if not is_repository(model):
        raise ModelError(f"model folder {model.path}: no such folder (below {Path.cwd()})")
    caches = cache_folders(model_folder)
    for cache in caches:
        folder = _snapshot(cache, model)
        if folder is not None and folder.is_dir():
            return _complete(folder)
    places = " or ".join(map(str, caches))
    at = model.revision or _DEFAULT_BRANCH
    raise ModelError(
        f"model {model.path} at {at} is not in {places}; run `dhd stage` where there is internet"
    )


def is_repository(model: VllmModel) -> bool:
    """Return whether a model's path can be a repository and is no local folder."""
    is_local = Path(model.path).expanduser().is_dir()
    return not is_local and _REPOSITORY.fullmatch(model.path) is not None


def cache_folders(model_folder: str | None) -> tuple[Path, ...]:
    """Return where repositories are looked for; the first is where they are downloaded to."""
    if model_folder is not None:
        home = Path(model_folder).expanduser()
        return (home / "hub", home)
    if cache := os.environ.get("HF_HUB_CACHE"):
        return (Path(cache).expanduser(),)
    home = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "huggingface")
    return (Path(os.environ.get("HF_HOME", home)).expanduser() / "hub",)


def weight_files(folder: Path) -> dict[str, int]:
    """Return the size in bytes of each file of a model, by its name below the folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.stat().st_size for path in sorted(files)}


def _snapshot(cache: Path, model: VllmModel) -> Path | None:
    """Return the folder of a repository's revision; None where a branch is not known there."""
    repository = cache / f"models--{model.path.replace('/', '--')}"
    named = repository / "snapshots" / (model.revision or "-")
    if named.is_dir():
        return named
    try:
        commit = (repository / "refs" / (model.revision or _DEFAULT_BRANCH)).read_text("utf-8")
    except OSError:
        return None
    return repository / "snapshots" / commit.strip()


def _complete(folder: Path) -> Path:
    """Return the folder if it has a config and the weights that its index names."""
    wanted = {"config.json"}
    for index in folder.glob("*.index.json"):
        try:
            wanted.update(json.loads(index.read_text("utf-8"))["weight_map"].values())
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"{index}: cannot be read ({error}); fetch the model anew") from error
    missing = sorted(name for name in wanted if not (folder / name).is_file())
    if missing:
        raise ModelError(
            f"model folder {folder}: {len(missing)} file(s) are missing, the first is "
            f"{missing[0]}; run `dhd stage` where there is internet"
        )
    return folder
