"""Staging: what is fetched, what is checked, what is found without internet."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree

import pytest
import yaml

from dhd.cli import main
from dhd.config.load import load_study_file
from dhd.config.models import VllmModel
from dhd.errors import ConfigError, ModelError
from dhd.staging import refuse_absent_models, weight_files, weights_folder
from dhd.staging.locate import completion_note
from dhd.staging.verify import model_checksums
from support.fake_hub import COMMIT, FakeHub, fake_hub

FILES = {
    "config.json": b"{}",
    "model.safetensors.index.json": json.dumps(
        {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    ).encode(),
    "model-1.safetensors": b"one" * 1000,
    "model-2.safetensors": b"two" * 1000,
    "tokenizer.json": b"{}",
    "original/consolidated.00.pth": b"not for vLLM",
}
INDEX = "model.safetensors.index.json"
USED = sorted(name for name in FILES if not name.startswith("original/"))


def model(path: str = "some/model", revision: str = COMMIT) -> VllmModel:
    return VllmModel(engine="vllm", path=path, revision=revision, max_model_len=64)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    """Serve ``some/model``, with a cache of this test's own."""
    from huggingface_hub import constants

    for name in ("HF_HUB_CACHE", "HF_HOME", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with fake_hub("some/model", FILES) as served:
        monkeypatch.setattr(constants, "ENDPOINT", served.url)
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.partition("/{repo_id}")
        monkeypatch.setattr(
            constants, "HUGGINGFACE_CO_URL_TEMPLATE", served.url + "".join(template[1:])
        )
        yield served


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a study whose actor is ``some/model`` into a folder and go there."""
    entry = model().model_dump(mode="json")
    (tmp_path / "models.yaml").write_text(yaml.safe_dump({"models": {"m": entry}}))
    config = {
        "study": "s",
        "models_file": str(tmp_path / "models.yaml"),
        "families": {"alpha": {"actor": "m"}},
        "benchmarks": {"b": {"loader": "user", "path": "problems.jsonl"}},
        "judging": {"method": "rules"},
    }
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(config))
    monkeypatch.chdir(tmp_path)
    return path


def stage(study: Path) -> int:
    return main(["stage", "--config", str(study)])


def repin(study: Path, **changes: str) -> None:
    """Change the model's entry."""
    path = study.with_name("models.yaml")
    document = yaml.safe_load(path.read_text())
    document["models"]["m"].update(changes)
    path.write_text(yaml.safe_dump(document))


def test_a_repository_is_fetched_checked_and_noted(
    hub: FakeHub, study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stage(study) == 0
    said = capsys.readouterr().out
    assert "m: 5 files" in said
    assert "all checksums are those that the repository states" in said
    note = json.loads(Path("results/s/models/m.json").read_text())
    assert sorted(note["files"]) == USED
    for name in USED:
        expected = hashlib.sha256(FILES[name]).hexdigest()
        assert note["files"][name] == {
            "bytes": len(FILES[name]),
            "sha256": expected,
            "stated": True,
        }
    assert weights_folder(model(), None) == Path(note["folder"])
    assert weight_files(Path(note["folder"])) == {name: len(FILES[name]) for name in USED}


def test_what_is_there_is_not_asked_for_again(hub: FakeHub, study: Path) -> None:
    assert stage(study) == 0
    asked = len(hub.asked)
    assert stage(study) == 0
    assert len(hub.asked) == asked


def test_an_interrupted_download_goes_on_where_it_was(hub: FakeHub, study: Path) -> None:
    assert stage(study) == 0
    folder = weights_folder(model(), None)
    (folder / "model-2.safetensors").resolve().unlink()
    with pytest.raises(ModelError, match=r"model-2.safetensors; run `dhd stage`"):
        weights_folder(model(), None)
    hub.asked.clear()
    assert stage(study) == 0
    fetched = {path.rpartition("/")[2] for path in hub.asked if "/resolve/" in path}
    assert fetched == {"model-2.safetensors"}


def test_what_an_interrupted_download_left_is_not_taken_for_the_model(
    hub: FakeHub, study: Path, tmp_path: Path
) -> None:
    snapshot = tmp_path / "cache/huggingface/hub/models--some--model/snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    there = ("config.json", "model-2.safetensors", "tokenizer.json")
    for name in there:
        (snapshot / name).write_bytes(FILES[name])
    assert stage(study) == 0
    fetched = {path.rpartition("/")[2] for path in hub.asked if "/resolve/" in path}
    assert fetched == set(USED) - set(there) == {INDEX, "model-1.safetensors"}
    assert sorted(weight_files(weights_folder(model(), None))) == USED


def test_a_download_is_complete_only_with_every_file_that_the_hub_lists(
    hub: FakeHub, study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stage(study) == 0
    folder = weights_folder(model(), None)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"tokenizer.json; run `dhd stage`"):
        weights_folder(model(), None)
    completion_note(folder).unlink()
    rmtree(folder.parents[1] / "trees", ignore_errors=True)  # the hub's list, kept by its tools
    hub.status = 400
    assert stage(study) == 2
    assert "run this where there is internet" in capsys.readouterr().err
    assert not completion_note(folder).exists()


@pytest.mark.parametrize(
    ("names", "lacks"),
    [
        (("model.safetensors", "tokenizer.json"), ""),
        (("pytorch_model.bin", "vocab.json"), ""),
        (("model-00001-of-00002.safetensors", "tokenizer.json"), r"\*\.index\.json"),
        (("model.safetensors",), r"tokenizer\.json"),
        (("tokenizer.json",), r"\*\.safetensors"),
    ],
)
def test_a_sites_cache_must_look_complete(
    hub: FakeHub,
    study: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    names: tuple[str, ...],
    lacks: str,
) -> None:
    snapshot = tmp_path / "cache/huggingface/hub/models--some--model/snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    for name in ("config.json", *names):
        (snapshot / name).write_text("{}")
    monkeypatch.setattr("os.access", lambda *_: False)
    assert stage(study) == (2 if lacks else 0)
    assert hub.asked == []
    if lacks:
        with pytest.raises(ModelError, match=rf"the first is {lacks}"):
            weights_folder(model(), None)


@pytest.mark.parametrize("name", ["model-1.safetensors", "config.json"])
def test_a_spoilt_file_is_an_error(
    hub: FakeHub, study: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stage(study) == 0
    blob = (weights_folder(model(), None) / name).resolve()
    blob.chmod(0o644)
    blob.write_bytes(bytes(len(FILES[name])))
    assert stage(study) == 2
    assert f"{name}: its checksum is" in capsys.readouterr().err


def test_a_revision_must_be_a_commit(
    hub: FakeHub, study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repin(study, revision="main")
    assert stage(study) == 2
    assert "models.m.revision = 'main': give the 40-hex commit" in capsys.readouterr().err
    assert hub.asked == []


@pytest.mark.parametrize(
    ("status", "error", "said"),
    [
        (403, "GatedRepo", "accept its terms"),
        (404, "RepoNotFound", "no such repository or commit"),
        (400, "", "run this where there is internet"),
    ],
)
def test_refusals_say_what_to_do(
    hub: FakeHub,
    study: Path,
    capsys: pytest.CaptureFixture[str],
    status: int,
    error: str,
    said: str,
) -> None:
    hub.status, hub.error = status, error
    assert stage(study) == 2
    assert said in capsys.readouterr().err
    assert not Path("results").exists()


def test_the_folder_of_a_site_comes_before_the_environments(hub: FakeHub, tmp_path: Path) -> None:
    snapshot = Path("models--some--model", "snapshots", COMMIT)
    for home in (tmp_path / "site" / "hub", tmp_path / "flat", tmp_path / "cache/huggingface/hub"):
        (home / snapshot).mkdir(parents=True)
        for name in ("config.json", "model.safetensors", "tokenizer.json"):
            (home / snapshot / name).touch()
    site, flat = str(tmp_path / "site"), str(tmp_path / "flat")
    assert weights_folder(model(), site) == tmp_path / "site" / "hub" / snapshot
    assert weights_folder(model(), flat) == tmp_path / "flat" / snapshot
    assert weights_folder(model(), None) == tmp_path / "cache/huggingface/hub" / snapshot
    with pytest.raises(ModelError, match=r"is not in .*run `dhd stage`"):
        weights_folder(model(revision="f" * 40), site)


def test_a_branch_is_found_by_its_reference(hub: FakeHub, tmp_path: Path) -> None:
    repository = tmp_path / "hub" / "models--some--model"
    (repository / "snapshots" / COMMIT).mkdir(parents=True)
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (repository / "snapshots" / COMMIT / name).touch()
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)
    found = weights_folder(model(revision=""), str(tmp_path))
    assert found == repository / "snapshots" / COMMIT


def test_a_local_folder_is_taken_as_it_is(
    hub: FakeHub, study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    repin(study, path=str(folder), revision="")
    assert stage(study) == 0
    said = capsys.readouterr().out
    assert "m: 1 file, 0.0 GB in" in said
    assert "nobody states checksums of a local folder, so none was compared" in said
    assert hub.asked == []
    assert not any(one.stated for one in model_checksums(folder))
    with pytest.raises(ModelError, match="no such folder"):
        weights_folder(model(str(tmp_path / "other")), None)


def refused(study: Path) -> str:
    """Return why a study's models cannot be had; empty where they can."""
    try:
        refuse_absent_models(load_study_file(study, root=study.parent))
    except ConfigError as error:
        return str(error)
    return ""


def test_a_missing_model_is_refused_before_the_first_job(study: Path, tmp_path: Path) -> None:
    assert refused(study) == ""  # a repository with its commit is fetched by a rule
    for path in (str(tmp_path / "gone"), "models/gone"):
        repin(study, path=path, revision="")
        why = refused(study)
        assert f"{tmp_path}/models.yaml: 1 setting(s) to mend" in why
        assert f"models.m.path = {path!r}: no such folder" in why
        assert "or a repository with its commit in models.m.revision" in why
    repin(study, path="some/model", revision="main")
    assert "models.m.revision = 'main': give the 40-hex commit" in refused(study)


def test_an_incomplete_model_folder_is_refused_before_the_first_job(
    study: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    repin(study, path=str(folder), revision="")
    assert "1 file missing, the first is config.json; copy the whole model" in refused(study)
    (folder / "config.json").write_text("{}")
    assert refused(study) == ""


def test_a_model_that_was_staged_may_be_gone(study: Path, tmp_path: Path) -> None:
    repin(study, path=str(tmp_path / "gone"), revision="")
    note = tmp_path / "results" / "s" / "models" / "m.json"
    note.parent.mkdir(parents=True)
    note.write_text("{}")
    assert refused(study) == ""


def test_models_that_do_not_run_in_jobs_need_no_folder(study: Path) -> None:
    path = study.with_name("models.yaml")
    path.write_text(yaml.safe_dump({"models": {"m": {"engine": "scripted", "name": "s"}}}))
    assert refused(study) == ""


def test_unknown_models_are_said(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stage", "--config", str(study), "--model", "n"]) == 2
    assert "asks no such model in its jobs; has m" in capsys.readouterr().err
