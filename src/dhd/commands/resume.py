"""``dhd resume``: the one way back after a crash, a kill or a lost login node."""

from __future__ import annotations

import argparse

HELP = "Cancel jobs that a lost run left behind, unlock the folder, and run Snakemake again."
#: All further arguments are Snakemake's.
TAKES_FURTHER_ARGUMENTS = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--profile", required=True, help="as for snakemake, e.g. polaris")
    parser.add_argument(
        "--controller-is-gone",
        action="store_true",
        help="the Snakemake that was noted on another host is gone for sure",
    )


def run(args: argparse.Namespace) -> int:
    """Resume; on success this process becomes Snakemake."""
    from dhd.schedulers.resume import resume

    resume(args.profile, args.further, is_gone=args.controller_is_gone)
    return 0
