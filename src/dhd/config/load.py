"""Reading and checking settings; everything here happens before the first job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from dhd.config.models import ModelSettings
from dhd.config.reading import faults_text, read_yaml, validated
from dhd.config.roles import Identifier
from dhd.config.strict import Strict
from dhd.config.study import StudySettings
from dhd.config.study_faults import study_faults
from dhd.errors import ConfigError
from dhd.sites.load import read_site
from dhd.sites.site import Site


class ModelsFile(Strict):
    """The models file: all models by key."""

    models: dict[Identifier, ModelSettings] = Field(
        description="Models that studies may name, by a key of your own."
    )


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
    site
        The cluster that runs the jobs, or None for one machine.
    """

    settings: StudySettings
    models: Mapping[str, ModelSettings]
    root: Path
    site: Site | None = None

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


def load_study(
    config: Mapping[str, Any], *, source: str, root: Path, site: str | Path | None = None
) -> Study:
    """Check a study's settings, those of its models, and those of the site.

    Parameters
    ----------
    config
        The merged configuration, as Snakemake hands it over.
    source
        Where it came from, for error messages, e.g. ``config/config.yaml``.
    root
        Folder of the project.
    site
        The site file of a cluster; None for one machine.

    Raises
    ------
    ConfigError
        All faults of a file in one message: file, key, value and what would be right.
    """
    settings = validated(StudySettings, config, source)
    models_path = Path(settings.models_file)
    if not models_path.is_absolute() and not models_path.exists():
        models_path = root / models_path
    models = validated(ModelsFile, read_yaml(models_path), str(models_path)).models
    place = None if site is None else read_site(site, root)
    study = Study(settings, models, root, place)
    faults = _cross_faults(study)
    if faults:
        raise ConfigError(faults_text(faults, source))
    return study


def load_study_file(path: Path, *, root: Path, site: str | Path | None = None) -> Study:
    """Check the study that one YAML file describes; see `load_study`."""
    return load_study(read_yaml(path), source=str(path), root=root, site=site)


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
