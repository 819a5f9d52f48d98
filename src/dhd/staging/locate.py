"""Where a model's files lie, found from files alone: compute nodes have no internet.

A repository is looked for in caches of the layout that Hugging Face's tools share,
``models--<owner>--<name>/snapshots/<commit>``, so that a site's common cache is used as it is.
A snapshot is there from the first file of a download on. What was downloaded completely is noted
beside the snapshots; without that note a snapshot has to look complete.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from dhd.config.models import VllmModel
from dhd.errors import ModelError
from dhd.wording import number_of

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_DEFAULT_BRANCH = "main"
_WEIGHTS = ("*.safetensors", "*.bin", "*.pt", "*.gguf")
_TOKENIZERS = ("tokenizer.json", "tekken.json", "vocab.*", "*.model", "*.tiktoken")
_PART = re.compile(r".*-\d{5}-of-\d{5}\.\w+")


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
        When the folder is not there, or files are missing: weights that its index names, files
        that were downloaded, or, where nobody noted that, what every model has.
    """
    local = Path(model.path).expanduser()
    if local.is_dir():
        return _whole(local, (), "copy the whole model there")
    if not is_repository(model):
        raise ModelError(f"model folder {model.path}: no such folder (below {Path.cwd()})")
    folder = snapshot_folder(model, model_folder)
    if folder is not None:
        needed = _noted_files(folder) or _files_needed(folder)
        return _whole(folder, needed, "run `dhd stage` where there is internet")
    places = " or ".join(map(str, cache_folders(model_folder)))
    at = model.revision or _DEFAULT_BRANCH
    raise ModelError(
        f"model {model.path} at {at} is not in {places}; run `dhd stage` where there is internet"
    )


def snapshot_folder(model: VllmModel, model_folder: str | None) -> Path | None:
    """Return where a repository's revision lies, be it complete or not; None where it does not."""
    folders = (_snapshot(cache, model) for cache in cache_folders(model_folder))
    return next((one for one in folders if one is not None and one.is_dir()), None)


def completion_note(snapshot: Path) -> Path:
    """Return the file that names all files of a snapshot once they were downloaded."""
    return snapshot.parent.parent / f".complete-{snapshot.name}.json"


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


def _whole(folder: Path, needed: Iterable[str], remedy: str) -> Path:
    """Return the folder if it has a config, what is needed and the weights that its index names.

    ``remedy`` says what to do where it has not.
    """
    wanted = {"config.json", *needed}
    for index in folder.glob("*.index.json"):
        try:
            wanted.update(json.loads(index.read_text("utf-8"))["weight_map"].values())
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"{index}: cannot be read ({error}); fetch the model anew") from error
    missing = sorted(name for name in wanted if not (folder / name).is_file())
    if missing:
        raise ModelError(
            f"model folder {folder}: {number_of(len(missing), 'file')} missing, the first is "
            f"{missing[0]}; {remedy}"
        )
    return folder


def _noted_files(snapshot: Path) -> list[str]:
    """Return the files that a completed download left; none where none is known of."""
    try:
        noted = json.loads(completion_note(snapshot).read_text("utf-8"))
    except (OSError, ValueError):
        return []
    return [name for name in noted if isinstance(name, str)] if isinstance(noted, list) else []


def _files_needed(snapshot: Path) -> Iterator[str]:
    """Yield names, or patterns, of files that a snapshot of unknown origin lacks.

    One that was being downloaded has some of its files, in any order: the index of weights in
    several parts may be among those that are not there yet.
    """
    weights = _files(snapshot, _WEIGHTS)
    indices = _files(snapshot, ("*.index.json",))
    if not weights and not indices:
        yield _WEIGHTS[0]
    if not indices and any(_PART.fullmatch(path.name) for path in weights):
        yield "*.index.json"
    if not _files(snapshot, _TOKENIZERS):
        yield _TOKENIZERS[0]


def _files(folder: Path, patterns: Iterable[str]) -> list[Path]:
    return [path for one in patterns for path in folder.glob(one) if path.is_file()]
