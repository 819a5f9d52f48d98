"""``dhd check``: run a file of hard cases through extraction, comparison and parsing."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dhd.checks.cases import CheckResult, read_cases, report

HELP = "run a case file (answers, verdicts or messages) and report each case"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "kind", choices=("answers", "verdicts", "messages"), help="what the cases test"
    )
    parser.add_argument("cases", type=Path, metavar="FILE.jsonl", help="one JSON object a line")


def run(args: argparse.Namespace) -> int:
    """Print one line a case and the summary; return 1 if a case failed."""
    cases = read_cases(args.cases)
    runner = {"answers": _answers, "verdicts": _verdicts, "messages": _messages}[args.kind]
    return report(runner(cases), sys.stdout)


def _answers(cases: Sequence[dict[str, Any]]) -> Iterator[CheckResult]:
    from dhd.answers import ComparisonPool
    from dhd.checks.answers import check_answer

    with ComparisonPool() as shown, ComparisonPool(prompt_shows_factor=False) as hidden:
        for case in cases:
            pool = shown if case.get("prompt_shows_factor", True) else hidden
            yield check_answer(case, pool.compare)


def _verdicts(cases: Sequence[dict[str, Any]]) -> Iterator[CheckResult]:
    from dhd.checks.verdicts import check_verdict

    return map(check_verdict, cases)


def _messages(cases: Sequence[dict[str, Any]]) -> Iterator[CheckResult]:
    from dhd.checks.messages import check_message

    return map(check_message, cases)
