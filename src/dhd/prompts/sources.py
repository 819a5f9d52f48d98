"""What the prompts of a role follow from: templates and settings, for telling changes apart."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from dhd.config.prompts import FIELDS_OF, Caller, PromptSettings
from dhd.prompts.templates import BASE_FOLDER, TemplateFolder

#: Templates that each caller loads; ``*`` stands for answer formats and calls.
_TEMPLATES: Final[Mapping[Caller, tuple[str, ...]]] = MappingProxyType(
    {
        "recruiter": ("recruiter.j2", "worked_recruiter_*.j2"),
        "hypothesizer": ("hypothesizer.j2", "worked_hypothesizer_*.j2"),
        "integrator": ("integrator.j2", "worked_integrator_*.j2"),
        "evaluator": ("evaluator.j2", "worked_evaluator_*.j2"),
        "protocols": ("protocol_*.j2", "worked_protocol_*.j2", "worked_integrator_*.j2"),
    }
)


def prompt_sources(settings: PromptSettings, root: Path, *callers: Caller) -> list[Any]:
    """Return what the prompts and answer schemas of some callers follow from, as plain values.

    These are the texts of their templates and of what those include, the limits of their
    fields, and the settings that all callers share. The folder's own name is not among them.

    Parameters
    ----------
    settings
        The ``prompts`` section of the config.
    root
        The project root, to which ``settings.folder`` is relative.
    callers
        Who asks.

    Raises
    ------
    ConfigError
        A template has a syntax error.
    """
    shared = settings.model_dump(mode="json", exclude={"folder", "field_max_chars"})
    fields = {name for caller in callers for name in FIELDS_OF[caller]}
    limits = {name: most for name, most in settings.field_max_chars.items() if name in fields}
    folder = TemplateFolder(root / settings.folder, root / BASE_FOLDER)
    texts = folder.texts(name for caller in callers for name in _TEMPLATES[caller])
    return [shared, limits, texts]
