"""``dhd status``: how far studies are, while their jobs run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dhd.status.overview import Overview

HELP = "say how far studies are: shards, requests, tokens, GPU-hours, what is left"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dhd status``."""
    parser.add_argument(
        "--study",
        metavar="NAME",
        help="study in results/ (default: all; those that are finished in one line each)",
    )
    parser.add_argument(
        "--json", action="store_true", help="for other programs; a list where no study is named"
    )


def run(args: argparse.Namespace) -> int:
    """Print the state of one study or of all."""
    import json

    from dhd.layout import StudyPaths
    from dhd.status.overview import study_overview
    from dhd.status.report import report_document, report_lines

    if args.study is None:
        overviews, unknown = _all_studies(Path("results"))
        if args.json:
            print(json.dumps([report_document(one) for one in overviews], indent=2))
        else:
            print("\n".join(_lines(overviews, unknown)))
        return 0
    overview = study_overview(StudyPaths.of(args.study).folder)
    if args.json:
        print(json.dumps(report_document(overview), indent=2))
    else:
        print("\n".join(report_lines(overview)))
    return 0


def _all_studies(results: Path) -> tuple[list[Overview], list[str]]:
    """Return the studies with a plan, the latest last, and what is wrong with the others."""
    from dhd.errors import RecordsError
    from dhd.status.overview import study_overview
    from dhd.status.plan import noted_studies

    folders = noted_studies(results)
    if not folders:
        raise RecordsError(
            f"{results.resolve()}: no study has been run here; run `snakemake` first"
        )
    overviews, unknown = [], []
    for folder in folders:
        try:
            overviews.append(study_overview(folder))
        except RecordsError as error:
            unknown.append(f"Study {folder.name}: not known, {error}")
    return overviews, unknown


def _lines(overviews: Sequence[Overview], unknown: Sequence[str]) -> list[str]:
    """Return unknown and finished studies in one line each, then the others as a whole."""
    from dhd.status.report import report_lines, summary_lines

    if len(overviews) == 1:
        parts = [report_lines(overviews[0])]
    else:
        finished = [line for one in overviews if one.is_finished for line in summary_lines(one)]
        parts = [finished, *(report_lines(one) for one in overviews if not one.is_finished)]
    lines: list[str] = []
    for part in filter(None, ([*unknown], *parts)):
        lines += [*([""] if lines else []), *part]
    return lines
