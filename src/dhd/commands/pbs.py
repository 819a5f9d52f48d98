"""``dhd pbs``: what the PBS profiles call to submit a job and to ask for its status."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "Submit a job script of Snakemake's to PBS (called by the profiles)."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--site", required=True, help="site file")
    parser.add_argument("--name", required=True, help="name of the job")
    parser.add_argument("--queue", required=True, help="queue")
    parser.add_argument("--select", type=int, required=True, help="nodes, or GPUs where single")
    parser.add_argument("--minutes", type=int, required=True, help="walltime")
    parser.add_argument("jobscript", type=Path, help="the script that Snakemake wrote")


def run(args: argparse.Namespace) -> int:
    """Submit the job and print its id."""
    from dhd.schedulers.pbs import PbsRequest, noted_site
    from dhd.schedulers.pbs_submit import submit

    request = PbsRequest(args.name, args.queue, args.select, args.minutes)
    print(submit(noted_site(args.site), request, args.jobscript))
    return 0
