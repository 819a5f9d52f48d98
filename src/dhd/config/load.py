"""Reading and checking settings; everything here happens before the first job."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, TypeAdapter, ValidationError

from dhd.config.models import ModelSettings
from dhd.config.roles import Identifier
from dhd.config.strict import Strict
from dhd.config.study import StudySettings
from dhd.config.study_faults import study_faults
from dhd.errors import ConfigError

_Model = TypeVar("_Model", bound=BaseModel)


class ModelsFile(Strict):
    """The models file: all models by key."""

    models: dict[Identifier, ModelSettings]


@dataclass(frozen=True, slots=True)
class Study:
    """A study's checked settings with the models that it names.

    Attributes
    ----------
    settings
        The study's own settings.
    models
        All models of the models file, by key.
    root
        Folder of the project; relative inputs that are not found in the working
        directory are looked for there.
    """

    settings: StudySettings
    models: Mapping[str, ModelSettings]
    root: Path

    def actor(self, family: str) -> ModelSettings:
        """Return the model that fills the reasoning roles of a family."""
        return self.models[self.settings.families[family].actor]

    def evaluator(self) -> ModelSettings | None:
        """Return the evaluator's model, or None when rules judge alone."""
        key = self.settings.judging.evaluator
        return None if key is None else self.models[key]

    def resolve(self, path: str) -> Path:
        """Return where an input lies: as given, else below the project's folder."""
        try:
            given = Path(path).expanduser()
            found = given.is_absolute() or given.exists()
        except (OSError, RuntimeError, ValueError) as error:
            raise ConfigError(f"path {path[:80]!r}: cannot be a path here ({error})") from error
        return given if found else self.root / given


def load_study(config: Mapping[str, Any], *, source: str, root: Path) -> Study:
    """Check a study's settings and those of its models.

    Parameters
    ----------
    config
        The merged configuration, as Snakemake hands it over.
    source
        Where it came from, for error messages, e.g. ``config/config.yaml``.
    root
        Folder of the project.

    Raises
    ------
    ConfigError
        All faults in one message: file, key, value and what would be right.
    """
    settings = _validated(StudySettings, config, source)
    models_path = Path(settings.models_file)
    if not models_path.is_absolute() and not models_path.exists():
        models_path = root / models_path
    models = _validated(ModelsFile, read_yaml(models_path), str(models_path)).models
    study = Study(settings, models, root)
    faults = _cross_faults(study)
    if faults:
        raise ConfigError(_joined(faults, source))
    return study


def load_study_file(path: Path, *, root: Path) -> Study:
    """Check the study that one YAML file describes; see `load_study`."""
    return load_study(read_yaml(path), source=str(path), root=root)


def read_settings(model: type[_Model], path: Path) -> _Model:
    """Check the settings in a YAML file of their own.

    Raises
    ------
    ConfigError
        All faults in one message: file, key, value and what would be right.
    """
    return _validated(model, read_yaml(path), str(path))


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


def _validated(model: type[_Model], data: Mapping[str, Any], source: str) -> _Model:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ConfigError(_joined([_fault(e, model) for e in error.errors()], source)) from None


def _joined(faults: Sequence[str], source: str) -> str:
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


def _cross_faults(study: Study) -> list[str]:
    """Return the faults that only several settings together show."""
    settings, models = study.settings, study.models
    faults = []
    named = {f"families.{f}.actor": s.actor for f, s in settings.families.items()}
    if settings.judging.evaluator is not None:
        named["judging.evaluator"] = settings.judging.evaluator
    named |= settings.studies.named_models()
    for key, name in named.items():
        if name not in models:
            known = ", ".join(sorted(models)) or "none"
            faults.append(f"{key} = {name!r}: no such model in {settings.models_file}; has {known}")
    faults.extend(
        f"judging.shared_with = {family!r}: no such family"
        for family in settings.judging.shared_with
        if family not in settings.families
    )
    faults.extend(study_faults(settings))
    if faults:
        return faults
    return _collapsed_models(study)


def _collapsed_models(study: Study) -> list[str]:
    """Return the faults of declared models that are one and the same."""
    settings, faults = study.settings, []
    seen: dict[str, str] = {}
    for family in settings.families:
        identity = repr(study.actor(family).identity())
        if identity in seen:
            faults.append(
                f"families.{family}.actor: the same model as families.{seen[identity]}.actor; "
                "two families need two models"
            )
        seen[identity] = family
    faults.extend(_equal_auditors(study))
    evaluator = study.evaluator()
    if evaluator is None:
        return faults
    for family in settings.families:
        same = repr(study.actor(family).identity()) == repr(evaluator.identity())
        if same and family not in settings.judging.shared_with:
            faults.append(
                f"judging.evaluator = {settings.judging.evaluator!r}: is the actor of family "
                f"{family!r}; choose another model, or add it to judging.shared_with on purpose"
            )
    return faults


def _equal_auditors(study: Study) -> Iterator[str]:
    """Yield the audit's evaluators that are one and the same model."""
    evaluators = study.settings.studies.evaluators
    seen: dict[str, str] = {}
    for name in evaluators.models if evaluators is not None else ():
        identity = repr(study.models[name].identity())
        if identity in seen:
            yield f"studies.evaluators.models: {name!r} is the same model as {seen[identity]!r}"
        seen[identity] = name
