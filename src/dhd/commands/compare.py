"""``dhd compare``: computed tables beside the published ones."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import dhd
from dhd.report.options import add_config_argument

HELP = (
    "compare measured numbers of computed tables with the published ones; exit code 1 when one "
    "differs too much, 2 when there is nothing to compare"
)
PUBLISHED = Path(dhd.__file__).resolve().parents[2] / "resources" / "published"
"""The paper's numbers in this project's folder, whichever folder the command runs in."""


def _tolerance(text: str) -> float:
    value = float(text)
    if not (math.isfinite(value) and value >= 0):
        raise argparse.ArgumentTypeError(f"{text}: must be a finite number, 0 or more")
    return value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dhd compare``."""
    parser.add_argument(
        "--tables", type=Path, required=True, metavar="DIR", help="folder that `dhd tables` wrote"
    )
    parser.add_argument(
        "--published",
        type=Path,
        default=PUBLISHED,
        metavar="DIR",
        help="folder of published CSV files (default: the project's resources/published)",
    )
    parser.add_argument(
        "--tolerance",
        type=_tolerance,
        default=1.0,
        metavar="X",
        help="percentage points for rates; percent for counts from 100 on, tokens and calls; "
        "counts below 100; hundredths for all other numbers (default: %(default)s)",
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for comparison.md and .html"
    )
    add_config_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Write the comparison and name its files; return 1 when a difference exceeds the tolerance."""
    from dhd.errors import RecordsError
    from dhd.report.compare import compare_tables
    from dhd.report.compare_report import render_comparison, summary
    from dhd.report.files import write_files
    from dhd.report.frames import read_tables
    from dhd.report.labels import Labels
    from dhd.report.matching import named_models
    from dhd.report.options import load_options

    if not args.published.is_dir():
        raise RecordsError(
            f"--published {args.published}: no such folder; give the project's "
            "resources/published, or a folder of CSV files like those"
        )
    labels = Labels(load_options(args.config).settings)
    published, ours = read_tables(args.published), read_tables(args.tables)
    outcome = compare_tables(published, ours, labels)
    paths = write_files(args.out, render_comparison(outcome, args.tolerance))
    print(f"Written: {', '.join(map(str, paths))}")
    if not outcome.compared:
        theirs, own = named_models(published, labels), named_models(ours, labels)
        shown = [", ".join(sorted(names.values())) or "none" for names in (own, theirs)]
        why = (
            f"no measured number of {args.tables} has a counterpart in {args.published}"
            if theirs.keys() & own.keys()
            else f"none of your models ({shown[0]}) is among those of {args.published} ({shown[1]})"
        )
        raise RecordsError(
            f"nothing to compare: {why}; analysis.model_names in the config given with --config "
            "says how models are shown"
        )
    print(summary(outcome, args.tolerance))
    return int(any(item.exceeds(args.tolerance) for item in outcome.compared))
