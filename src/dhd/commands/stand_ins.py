"""``dhd stand-ins``: problems for studies without a model."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "write stand-in problems of the five benchmarks, which simulated models can answer"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dhd stand-ins``."""
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder to fill")
    parser.add_argument("--limit", type=int, help="problems of each benchmark, spread evenly")


def run(args: argparse.Namespace) -> int:
    """Write the files and say how many problems each has."""
    from dhd.errors import ConfigError
    from dhd.simulation.files import write_stand_ins
    from dhd.wording import number_of

    if args.limit is not None and args.limit < 1:
        raise ConfigError(f"--limit = {args.limit}: must be 1 or more")
    for benchmark, count in write_stand_ins(args.out, args.limit).items():
        print(f"{args.out / benchmark}.jsonl: {number_of(count, 'problem')}")
    return 0
