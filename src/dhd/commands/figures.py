"""``dhd figures``: the paper's data figures."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dhd.report.options import add_config_argument

if TYPE_CHECKING:
    import pandas as pd

    from dhd.report.options import ReportOptions

HELP = "draw Figures 4 and 6 to 9 as PDF, SVG and PNG from computed tables or from records"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dhd figures``."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--tables", type=Path, metavar="DIR", help="folder that `dhd tables` wrote (fast)"
    )
    source.add_argument(
        "--records", type=Path, metavar="DIR", help="folder of Parquet tables: computes first"
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for the figures, flat"
    )
    add_config_argument(parser)


def _tables(args: argparse.Namespace, options: ReportOptions) -> dict[str, pd.DataFrame]:
    if args.tables is not None:
        from dhd.report.frames import read_tables

        return read_tables(args.tables)
    from dhd.analysis.registry import compute_tables
    from dhd.records import load_records

    computed = compute_tables(
        load_records(args.records), options.settings, decoding=options.decoding
    )
    return dict(computed.tables)


def run(args: argparse.Namespace) -> int:
    """Draw all figures, then write them; name those without numbers."""
    from dhd.figures.render import write_figures
    from dhd.report.options import load_options
    from dhd.wording import number_of

    options = load_options(args.config, args.records)
    paths, absent = write_figures(_tables(args, options), options.settings, args.out)
    for name in absent:
        print(f"absent: {name}: no numbers for it")
    print(f"{number_of(len(paths), 'file')} in {args.out}")
    return 0
