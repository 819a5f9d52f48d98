"""Reading YAML files into settings, with faults that say what would be right."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, TypeAdapter, ValidationError

from dhd.errors import ConfigError

_Model = TypeVar("_Model", bound=BaseModel)


def read_settings(model: type[_Model], path: Path) -> _Model:
    """Check the settings in a YAML file of their own.

    Raises
    ------
    ConfigError
        All faults in one message: file, key, value and what would be right.
    """
    return validated(model, read_yaml(path), str(path))


def read_yaml(path: Path) -> Mapping[str, Any]:
    """Return the mapping in a YAML file.

    Raises
    ------
    ConfigError
        When the file is missing, is no YAML, or holds no mapping.
    """
    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid YAML: {error}") from error
    if not isinstance(loaded, Mapping):
        raise ConfigError(f"{path}: holds {type(loaded).__name__}, should be a mapping")
    return loaded


def validated(model: type[_Model], data: Mapping[str, Any], source: str) -> _Model:
    """Check settings that are at hand; ``source`` says in messages where they came from.

    Raises
    ------
    ConfigError
        All faults in one message: file, key, value and what would be right.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ConfigError(faults_text([_fault(e, model) for e in error.errors()], source)) from None


def faults_text(faults: Sequence[str], source: str) -> str:
    """Return one message of several faults."""
    lines = "".join(f"\n  {fault}" for fault in faults)
    return f"{source}: {len(faults)} setting(s) to mend:{lines}"


def _fault(error: Any, model: type[BaseModel]) -> str:
    path = [
        part for part in error["loc"] if part not in ("vllm", "openai", "scripted", "simulated")
    ]
    key = ".".join(map(str, path))
    if error["type"] == "extra_forbidden":
        return f"{key}: unknown key{_suggestion(str(path[-1]), path[:-1], model)}"
    if error["type"] == "missing":
        return f"{key}: missing, needs a value"
    value = repr(error["input"])
    value = value if len(value) <= 80 else f"{value[:77]}..."
    message = error["msg"].removeprefix("Value error, ")
    return f"{key} = {value}: {message}"


def _suggestion(unknown: str, path: Sequence[Any], model: type[BaseModel]) -> str:
    """Return a hint at the nearest known key of the section at ``path``."""
    known = _known_keys(TypeAdapter(model).json_schema(), path)
    near = difflib.get_close_matches(unknown, known, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; known keys here: {', '.join(sorted(known))}" if known else ""


def _known_keys(schema: dict[str, Any], path: Sequence[Any]) -> list[str]:
    nodes = [schema]
    for part in path:
        nodes = [child for node in nodes for child in _children(node, str(part), schema)]
    keys: list[str] = []
    for node in nodes:
        for variant in _variants(node, schema):
            keys.extend(variant.get("properties", ()))
    return list(dict.fromkeys(keys))


def _children(node: dict[str, Any], key: str, schema: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for variant in _variants(node, schema):
        if key in variant.get("properties", {}):
            found.append(variant["properties"][key])
        elif isinstance(variant.get("additionalProperties"), dict):
            found.append(variant["additionalProperties"])
        else:
            found.extend(variant.get("patternProperties", {}).values())
    return found


def _variants(node: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, Any]]:
    if "$ref" in node:
        node = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    alternatives = node.get("anyOf") or node.get("oneOf")
    if alternatives is None:
        return [node]
    return [variant for option in alternatives for variant in _variants(option, schema)]
