"""Copies of weights on a node's disk: one for all engines, checked, and never needed."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from dhd.config.models import VllmModel
from dhd.engines import vllm
from dhd.engines.build import build_engine
from dhd.ranks.weights import engine_weights, local_copy
from dhd.sites import Site


class Usage(NamedTuple):
    total: int
    used: int
    free: int


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a model folder as Hugging Face's cache has it: links to blobs, and a subfolder."""
    folder, blobs = tmp_path / "snapshots" / "abc", tmp_path / "blobs"
    (folder / "extra").mkdir(parents=True)
    blobs.mkdir()
    for name, size in (("config.json", 20), ("model.safetensors", 5000), ("extra/vocab.txt", 7)):
        blob = blobs / name.replace("/", "-")
        blob.write_bytes(os.urandom(size))
        (folder / name).symlink_to(blob)
    return folder


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the files that are copied, as they are."""
    names: list[str] = []
    copyfile = shutil.copyfile

    def noting(source: Path, target: Path) -> None:
        names.append(source.name)
        copyfile(source, target)

    monkeypatch.setattr("shutil.copyfile", noting)
    return names


def content(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_engines_of_a_node_share_one_copy(source: Path, tmp_path: Path, copied: list[str]) -> None:
    with ThreadPoolExecutor(4) as threads:
        copies = set(threads.map(lambda _: local_copy(source, tmp_path / "disk"), range(4)))
    (copy,) = copies
    assert copy.parent == tmp_path / "disk"
    assert content(copy) == content(source)
    assert not any(path.is_symlink() for path in copy.rglob("*"))
    assert len(copied) == 3


def test_a_copy_that_was_cut_short_is_made_again(
    source: Path, tmp_path: Path, copied: list[str]
) -> None:
    copy = local_copy(source, tmp_path / "disk")
    (copy / "model.safetensors").write_bytes(b"short")
    assert local_copy(source, tmp_path / "disk") == copy
    assert content(copy) == content(source)
    assert len(copied) == 6


def test_other_weights_are_another_copy(source: Path, tmp_path: Path) -> None:
    first = local_copy(source, tmp_path / "disk")
    (tmp_path / "blobs" / "config.json").write_bytes(b"another size of it")
    assert local_copy(source, tmp_path / "disk") != first


def test_a_full_disk_falls_back_to_the_staged_files(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage(9, 9, 100))
    assert local_copy(source, tmp_path / "disk") == source
    assert "they are read from" in capfd.readouterr().err


def test_a_disk_that_fails_in_the_middle_falls_back(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("shutil.copyfile", refuse)
    assert local_copy(source, tmp_path / "disk") == source
    assert not list((tmp_path / "disk").glob("weights-*"))


def test_the_engine_loads_the_copy_and_keeps_its_identity(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[VllmModel] = []
    monkeypatch.setattr(vllm, "LoadedModel", loaded.append)
    model = VllmModel(engine="vllm", path=str(source), max_model_len=10)
    site = Site(
        file="site.yaml",
        scheduler="slurm",
        queue="q",
        walltime="01:00:00",
        gpus_per_node=1,
        gpu_memory_gb=1,
        local_weights=str(tmp_path / "$USER_DISK"),
    )
    monkeypatch.setenv("USER_DISK", "disk")
    engine = build_engine(model, lambda settings: engine_weights(site, settings))
    assert isinstance(engine, vllm.VllmEngine)
    engine._load()
    assert Path(loaded[0].path).parent == tmp_path / "disk"
    assert engine.identity == model.identity()
    assert engine_weights(None, model) == source
