"""The JSON schemas of the config files, made from the settings' models."""

from __future__ import annotations

import json

from pydantic import BaseModel

from dhd.config.load import ModelsFile
from dhd.config.study import StudySettings
from dhd.sites.queues import Machine
from dhd.sites.site import SiteFile

_FILES: dict[str, type[BaseModel]] = {
    "config.schema.json": StudySettings,
    "models.schema.json": ModelsFile,
    "site.schema.json": SiteFile,
    "queues.schema.json": Machine,
}


def schema_files() -> dict[str, str]:
    """Return the text of each schema file by name."""
    return {
        name: json.dumps(model.model_json_schema(), indent=2, ensure_ascii=False) + "\n"
        for name, model in _FILES.items()
    }
