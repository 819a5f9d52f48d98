"""``dhd schema``: the JSON schemas of the config files."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "write the JSON schemas of config and models file, for editors and for reading"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dhd schema``."""
    parser.add_argument("--out", type=Path, default=Path("workflow/schemas"), metavar="DIR")


def run(args: argparse.Namespace) -> int:
    """Write both schemas; the settings' models are their only source."""
    from dhd.config.schema import schema_files

    args.out.mkdir(parents=True, exist_ok=True)
    for name, text in schema_files().items():
        (args.out / name).write_text(text, encoding="utf-8")
        print(args.out / name)
    return 0
