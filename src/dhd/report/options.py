"""What reports take from a config: settings of the analysis, and how each role was asked."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from dhd.analysis.settings import AnalysisSettings
from dhd.config.reading import read_yaml
from dhd.config.studies import StudiesSettings
from dhd.config.study import DecodingSettings, JudgingSettings
from dhd.errors import ConfigError

_SETTINGS = "settings.yaml"
_Section = TypeVar("_Section", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Settings of the analysis, and the decoding of each role where a config tells it.

    Attributes
    ----------
    settings
        The ``analysis`` section, or its defaults.
    decoding
        Per role (temperature, maximum completion tokens), of the roles that a study asks; None
        without a config.
    """

    settings: AnalysisSettings
    decoding: Mapping[str, tuple[float, int]] | None = None


def _section(config: Mapping[str, Any], key: str, model: type[_Section], source: Path) -> _Section:
    try:
        return model.model_validate(config.get(key) or {})
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join((key, *map(str, fault['loc'])))} = {fault['input']!r}: {fault['msg']}"
            for fault in error.errors()
        )
        raise ConfigError(f"{source}: {faults}") from error


def asked_decoding(
    decoding: DecodingSettings, judging: JudgingSettings | None, studies: StudiesSettings
) -> dict[str, tuple[float, int]]:
    """Return temperature and largest completion of every role that a study asks (Table 27).

    Parameters
    ----------
    judging
        How answers are judged; None where that is not known, so that an evaluator may be asked.
    studies
        The further studies; those with a sampling of their own have a line of their own.
    """
    roles = {str(role): one for role, one in decoding.by_role().items()}
    protocols = studies.protocols
    writes_hints = protocols is not None and protocols.hint_writer is not None
    is_by_rules = judging is not None and judging.method == "rules"
    if is_by_rules and not writes_hints and studies.evaluators is None:
        del roles["evaluator"]
    if studies.integrator is not None and studies.replays():
        roles["integrator_replays"] = studies.integrator.as_decoding()
    if protocols is not None and protocols.actor is not None:
        roles["protocol_solver"] = protocols.actor.as_decoding()
    return {role: (one.temperature, one.max_tokens) for role, one in roles.items()}


def load_options(config: Path | None, records: Path | None = None) -> ReportOptions:
    """Read what reports need from a study's config; other sections are not looked at.

    Parameters
    ----------
    config
        The study's config, or None.
    records
        Folder of records, whose ``settings.yaml`` stands in for a config that is not given.

    Raises
    ------
    ConfigError
        When the file cannot be read or one of its sections is not what it should be.
    """
    if config is None and records is not None and (records / _SETTINGS).is_file():
        config = records / _SETTINGS
    if config is None:
        return ReportOptions(AnalysisSettings())
    loaded = read_yaml(config)
    judging = _section(loaded, "judging", JudgingSettings, config) if "judging" in loaded else None
    return ReportOptions(
        _section(loaded, "analysis", AnalysisSettings, config),
        asked_decoding(
            _section(loaded, "decoding", DecodingSettings, config),
            judging,
            _section(loaded, "studies", StudiesSettings, config),
        ),
    )


def add_config_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--config`` to a reporting command."""
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="study config; its analysis section names models and benchmarks and sets draws "
        "(default: settings.yaml in the folder of --records where it is, else the paper's)",
    )
