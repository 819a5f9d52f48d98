"""Downloading a repository's pinned revision; the only module that asks the hub."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from dhd.config.models import VllmModel
from dhd.errors import ConfigError, ModelError
from dhd.files import replacing
from dhd.staging.locate import completion_note

_COMMIT = re.compile(r"[0-9a-f]{40}")

#: Files of a repository that vLLM does not load: weights in other formats.
_UNUSED = ("original/*", "metal/*", "*.gguf", "*.onnx", "*.pth", "*.msgpack", "*.h5")


def check_pinned(key: str, model: VllmModel) -> None:
    """Raise ``ConfigError`` unless a repository's revision is a commit."""
    if not _COMMIT.fullmatch(model.revision):
        raise ConfigError(
            f"models.{key}.revision = {model.revision!r}: give the 40-hex commit to use, e.g. from "
            f"`git ls-remote https://huggingface.co/{model.path} HEAD`; a model of your own is a "
            f"folder, and {model.path} is none here (the demo's comes with `make model`)"
        )


def download(model: VllmModel, cache: Path) -> Path:
    """Download what is missing of a repository's revision; return its folder.

    A note beside it says that it is complete. A login that the repository asks for is taken from
    where Hugging Face's tools keep it.

    Parameters
    ----------
    cache
        Folder of repositories, in the layout of Hugging Face's tools.

    Raises
    ------
    ModelError
        When the hub refuses or cannot be reached, or the disk refuses.
    """
    from huggingface_hub import errors

    what = f"{model.path} at {model.revision}"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        if not os.access(cache, os.W_OK):
            raise PermissionError(f"{cache}: not writable")
        return _downloaded(model, cache)
    except errors.GatedRepoError as error:
        raise ModelError(
            f"{what}: asks for a login; accept its terms on its page, then `hf auth login`"
        ) from error
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError) as error:
        raise ModelError(
            f"{what}: no such repository or commit, or it asks for a login (`hf auth login`)"
        ) from error
    except (errors.HfHubHTTPError, errors.LocalEntryNotFoundError, errors.DryRunError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ModelError(
            f"{what}: cannot be downloaded ({reason}); run this where there is internet "
            "(https_proxy is respected)"
        ) from error
    except OSError as error:
        raise ModelError(
            f"{what}: cannot be written below {cache} ({error}); set model_folder in the site file "
            "to a folder of yours with enough space"
        ) from error


def _downloaded(model: VllmModel, cache: Path) -> Path:
    """Download a revision and note its files; the second call is refused without the hub's list.

    Where the hub cannot be reached the first one returns what it finds, be it complete or not.
    """
    from huggingface_hub import snapshot_download

    def call(*, dry_run: bool) -> Any:
        return snapshot_download(
            model.path,
            revision=model.revision,
            cache_dir=cache,
            ignore_patterns=list(_UNUSED),
            dry_run=dry_run,
        )

    folder = Path(call(dry_run=False))
    files = sorted(one.filename for one in call(dry_run=True))
    with replacing(completion_note(folder)) as temporary:
        temporary.write_text(json.dumps(files, indent=0) + "\n", encoding="utf-8")
    return folder
