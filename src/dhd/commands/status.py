"""``dhd status``: how far a study is, while its jobs run."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "say how far a study is: shards, requests, tokens, GPU-hours, what is left"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dhd status``."""
    parser.add_argument(
        "--study", metavar="NAME", help="study in results/ (default: the one run last)"
    )
    parser.add_argument("--json", action="store_true", help="for other programs")


def run(args: argparse.Namespace) -> int:
    """Print the state of one study."""
    import json

    from dhd.status.overview import study_overview
    from dhd.status.report import report_document, report_lines

    overview = study_overview(_folder(args.study))
    if args.json:
        print(json.dumps(report_document(overview), indent=2))
    else:
        print("\n".join(report_lines(overview)))
    return 0


def _folder(study: str | None) -> Path:
    from dhd.errors import RecordsError
    from dhd.layout import StudyPaths
    from dhd.status.plan import planned_studies

    if study is not None:
        return StudyPaths.of(study).folder
    folders = planned_studies(Path("results"))
    if not folders:
        raise RecordsError(
            f"{Path('results').resolve()}: no study has been run here; run `snakemake` first"
        )
    return folders[0]
