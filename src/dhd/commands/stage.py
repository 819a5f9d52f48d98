"""``dhd stage``: fetch and check a study's models where there is internet."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "fetch and check the models of a study, e.g. on a login node"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dhd stage``."""
    parser.add_argument(
        "--config", type=Path, default=Path("config/paper.yaml"), help="default: %(default)s"
    )
    parser.add_argument(
        "--site", type=Path, metavar="FILE", help="the cluster's site file, e.g. polaris/site.yaml"
    )
    parser.add_argument("--model", nargs="+", metavar="KEY", help="these models alone")


def run(args: argparse.Namespace) -> int:
    """Stage the models, one after the other."""
    from dhd.config.load import load_study_file
    from dhd.errors import ConfigError
    from dhd.layout import StudyPaths
    from dhd.staging import models_to_stage, stage_model

    study = load_study_file(args.config, root=Path.cwd(), site=args.site)
    known = models_to_stage(study)
    unknown = sorted(set(args.model or ()) - set(known))
    if unknown:
        raise ConfigError(
            f"--model {unknown[0]!r}: {args.config} asks no such model in its jobs; "
            f"has {', '.join(known) or 'none'}"
        )
    if not known:
        print(f"{args.config}: no model runs in the jobs of this study")
    for key in args.model or known:
        note = StudyPaths.of(study.settings.study).staged(key)
        print(stage_model(study, key, note), flush=True)
    return 0
