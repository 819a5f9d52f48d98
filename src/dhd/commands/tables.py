"""``dhd tables``: all tables of the paper from a records folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from dhd.report.options import add_config_argument

HELP = "compute every table and figure number from records; write CSV, Parquet, LaTeX, Markdown"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dhd tables``."""
    parser.add_argument(
        "--records", type=Path, required=True, metavar="DIR", help="folder of Parquet tables"
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for the tables, flat"
    )
    add_config_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Compute all tables, then write them; name those that the records cannot determine."""
    from dhd.analysis.registry import compute_tables
    from dhd.records import load_records
    from dhd.report.options import load_options
    from dhd.report.writers import write_tables, written_line

    options = load_options(args.config, args.records)
    records = load_records(args.records)
    computed = compute_tables(records, options.settings, decoding=options.decoding)
    paths = write_tables(computed, options.settings, args.out)
    for name, reason in computed.absent.items():
        print(f"absent: {name}: {reason}")
    print(written_line(computed.tables, len(paths), args.out))
    return 0
