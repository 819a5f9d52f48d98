"""``dhd benchmarks``: look at a benchmark's files before a run."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

HELP = "Check a benchmark's files and print counts, strata, answer formats, checksums and notes."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``dhd benchmarks``."""
    parser.add_argument("--loader", required=True, help="omni_math_2, jeebench, …, or user")
    parser.add_argument("--path", required=True, type=Path, help="the benchmark's file or folder")
    parser.add_argument("--key", help="benchmark key in the config (default: the loader's name)")
    parser.add_argument("--expected-count", type=int, help="problems of a variant")
    parser.add_argument("--strata", nargs="+", help="these strata only, e.g. t9 t10")
    parser.add_argument("--limit", type=int, help="the first n problems only")


def run(args: argparse.Namespace) -> int:
    """Load the benchmark and print what it holds; DhdError if it is not what it should be."""
    from pydantic import ValidationError

    from dhd.benchmarks.load import load_benchmark
    from dhd.benchmarks.rows import describe
    from dhd.config.benchmarks import BenchmarkSettings
    from dhd.errors import ConfigError
    from dhd.wording import number_of

    try:
        settings = BenchmarkSettings(
            loader=args.loader,
            path=str(args.path),
            expected_count=args.expected_count,
            strata=args.strata,
            limit=args.limit,
        )
    except ValidationError as error:
        raise ConfigError(describe(error, None)) from error
    loaded = load_benchmark(args.key or args.loader, settings, args.path)
    problems = loaded.problems
    print(number_of(len(problems), "problem"))
    print(f"strata: {_counts(problem.stratum or 'none' for problem in problems)}")
    print(f"answer formats: {_counts(problem.answer_format for problem in problems)}")
    print(f"licence: {_counts(problem.license or 'not given' for problem in problems)}")
    for name, sha256 in loaded.checksums.items():
        print(f"sha256 {sha256}  {name}")
    for note in loaded.notes:
        print(f"note: {note}")
    return 0


def _counts(names: Iterable[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in Counter(names).items())
