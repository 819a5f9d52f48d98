"""The ``dhd`` command: finds its subcommands in ``dhd.commands`` and runs one."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Sequence
from types import ModuleType

import dhd
from dhd import commands
from dhd.errors import DhdError


def _subcommands(asked: str | None) -> dict[str, ModuleType]:
    """Return the subcommand that was asked for, else all: importing those of others takes time."""
    modules = [module.name for module in pkgutil.iter_modules(commands.__path__)]
    names = {name.replace("_", "-"): name for name in sorted(modules)}
    if asked in names:
        names = {asked: names[asked]}
    return {name: importlib.import_module(f"dhd.commands.{names[name]}") for name in names}


def build_parser(asked: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of ``dhd``: of the subcommand ``asked``, or of all."""
    parser = argparse.ArgumentParser(prog="dhd", description=dhd.__doc__)
    parser.add_argument("--version", action="version", version=f"dhd {dhd.__version__}")
    choices = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in _subcommands(asked).items():
        sub = choices.add_parser(name, help=module.HELP, description=module.HELP)
        module.add_arguments(sub)
        takes_further = getattr(module, "TAKES_FURTHER_ARGUMENTS", False)
        sub.set_defaults(run=module.run, takes_further=takes_further)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``dhd``; return the exit code (2 for an error that the user can mend)."""
    argv = sys.argv[1:] if argv is None else argv
    parser = build_parser(argv[0] if argv else None)
    args, further = parser.parse_known_args(argv)
    if further and not args.takes_further:
        parser.error(f"unrecognized arguments: {' '.join(further)}")
    args.further = further
    try:
        return int(args.run(args))
    except DhdError as error:
        print(f"dhd: error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 1


if __name__ == "__main__":
    sys.exit(main())
