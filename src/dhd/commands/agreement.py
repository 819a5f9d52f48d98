"""``dhd agreement``: how far two scans of the same messages label them alike."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "compare the effect labels of two scans: label agreement and weighted kappa"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dhd agreement``."""
    parser.add_argument(
        "--records",
        type=Path,
        required=True,
        action="append",
        metavar="DIR",
        help="folder of Parquet tables; give it twice, once for each scan",
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="CSV file, e.g. scan_agreement.csv"
    )


def run(args: argparse.Namespace) -> int:
    """Compare the two scans, write the table and print its pooled rows."""
    from dhd.analysis.agreement.scans import scan_agreement
    from dhd.analysis.context import POOLED, AnalysisContext
    from dhd.analysis.settings import AnalysisSettings
    from dhd.errors import ConfigError
    from dhd.files import replacing
    from dhd.records import load_records
    from dhd.wording import number_of

    if len(args.records) != 2:
        raise ConfigError(f"--records: give two folders, not {len(args.records)}")
    settings = AnalysisSettings()
    first, second = (AnalysisContext(load_records(folder), settings) for folder in args.records)
    table = scan_agreement(first, second)
    with replacing(args.out) as temporary:
        table.to_csv(temporary, index=False, lineterminator="\n")
    for row in table[table["benchmark"] == POOLED].itertuples():
        print(
            f"{row.model}: {row.events_n} events, agreement {row.agreement_pct:.2f} %, "
            f"weighted kappa {row.weighted_kappa:.3f}"
        )
    print(f"{number_of(len(table), 'row')} in {args.out}")
    return 0
