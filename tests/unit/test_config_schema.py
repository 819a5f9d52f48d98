"""The schema files that editors and readers use: complete, and those of the settings."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from dhd.config.schema import schema_files

Key = tuple[str, dict[str, Any]]


def objects(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield schema["title"], schema
    yield from schema.get("$defs", {}).items()


def keys(name: str) -> list[Key]:
    """Return all keys of a schema file, as section.key, with what the file says of each."""
    return [
        (f"{section}.{key}", said)
        for section, one in objects(json.loads(schema_files()[name]))
        for key, said in one.get("properties", {}).items()
    ]


@pytest.fixture(params=sorted(schema_files()))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_committed_files_are_those_of_the_settings(project_root: Path, name: str) -> None:
    committed = (project_root / "workflow" / "schemas" / name).read_text(encoding="utf-8")
    assert committed == schema_files()[name], f"run `dhd schema` to write {name} anew"


def test_every_key_has_a_description(name: str) -> None:
    found = keys(name)
    assert len(found) > 10
    assert not [key for key, said in found if not said.get("description", "").endswith(".")]


def test_every_key_is_required_or_has_a_default(name: str) -> None:
    schema = json.loads(schema_files()[name])
    silent = [
        f"{section}.{key}"
        for section, one in objects(schema)
        for key, said in one.get("properties", {}).items()
        if key not in one.get("required", ()) and "default" not in said
    ]
    assert not silent


def test_null_as_a_default_is_explained(name: str) -> None:
    unsaid = [
        key
        for key, said in keys(name)
        if said.get("default", "") is None and "null" not in said["description"].lower()
    ]
    assert not unsaid


def test_times_and_sizes_say_their_units(name: str) -> None:
    units = {"_s": "econds", "_gb": "GB", "_tokens": "tokens"}
    wrong = [
        key
        for key, said in keys(name)
        for ending, unit in units.items()
        if key.endswith(ending) and unit not in said["description"]
    ]
    assert not wrong


def test_choices_of_a_study_say_what_each_does() -> None:
    """Each allowed value of these keys is named in its own description."""
    said = dict(keys("config.schema.json"))
    for key in ("JudgingSettings.method", "InferenceSettings.method"):
        assert all(f"{value}:" in said[key]["description"] for value in said[key]["enum"]), key


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        *(("config", file) for file in ("config", "paper", "real", "simulate", "trial")),
        *(("models", file) for file in ("models", "simulate_models")),
    ],
)
def test_editors_find_no_fault_in_the_projects_own_files(
    project_root: Path, schema: str, file: str
) -> None:
    content = yaml.safe_load((project_root / "config" / f"{file}.yaml").read_text("utf-8"))
    validator = jsonschema.Draft202012Validator(json.loads(schema_files()[f"{schema}.schema.json"]))
    assert not [error.message for error in validator.iter_errors(content)]
    assert not validator.is_valid({**content, "colour": "red"})
