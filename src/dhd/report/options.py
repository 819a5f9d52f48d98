"""What the reporting commands take from a config: its ``analysis`` and ``decoding`` sections."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from dhd.analysis.settings import AnalysisSettings
from dhd.config.reading import read_yaml
from dhd.config.study import DecodingSettings
from dhd.errors import ConfigError

_Section = TypeVar("_Section", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Settings of the analysis, and the decoding of each role where a config tells it.

    Attributes
    ----------
    settings
        The ``analysis`` section, or its defaults.
    decoding
        Per role (temperature, maximum completion tokens); None without a config.
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


def load_options(config: Path | None) -> ReportOptions:
    """Read what reports need from a study's config; other sections are not looked at.

    Raises
    ------
    ConfigError
        When the file cannot be read or one of the two sections is not what it should be.
    """
    if config is None:
        return ReportOptions(AnalysisSettings())
    loaded = read_yaml(config)
    decoding = _section(loaded, "decoding", DecodingSettings, config).by_role()
    return ReportOptions(
        _section(loaded, "analysis", AnalysisSettings, config),
        {role: (d.temperature, d.max_tokens) for role, d in decoding.items()},
    )


def add_config_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--config`` to a reporting command."""
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="study config; its analysis section names models and benchmarks and sets draws "
        "(default: the paper's settings)",
    )
