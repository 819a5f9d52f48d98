"""``dhd compare``: computed tables beside the published ones."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from dhd.report.options import add_config_argument

HELP = "compare computed tables with the published ones; exit code 1 when a number differs too much"


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
        default=Path("resources/published"),
        metavar="DIR",
        help="folder of published CSV files (default: %(default)s)",
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
    """Write the comparison; return 1 when a difference exceeds the tolerance."""
    from dhd.report.compare import compare_tables
    from dhd.report.compare_report import render_comparison, summary
    from dhd.report.files import write_files
    from dhd.report.frames import read_tables
    from dhd.report.labels import Labels
    from dhd.report.options import load_options

    labels = Labels(load_options(args.config).settings)
    outcome = compare_tables(read_tables(args.published), read_tables(args.tables), labels)
    write_files(args.out, render_comparison(outcome, args.tolerance))
    print(summary(outcome, args.tolerance))
    return int(any(item.exceeds(args.tolerance) for item in outcome.compared))
