"""``dhd matrix``: the six-cell matrix of a study, on the terminal."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhd.errors import RecordsError
from dhd.layout import StudyPaths

if TYPE_CHECKING:
    import pandas as pd

HELP = "print a study's six-cell matrix and say where its tables and figures lie"

_CELLS = {
    "wrong_helpful_n": "W+",
    "wrong_neutral_n": "W0",
    "wrong_harmful_n": "W-",
    "correct_helpful_n": "C+",
    "correct_neutral_n": "C0",
    "correct_harmful_n": "C-",
}
_REPLAYS = {"single": "one message against none", "loo": "in the pool, K = 2-5"}
_LEFT_OUT = {
    "counted_n": "counted",
    "all_n": "of",
    "missing_n": "missing",
    "failed_n": "failed",
    "unjudged_n": "unjudged",
    "no_answer_n": "no answer",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dhd matrix``."""
    parser.add_argument("--study", required=True, metavar="NAME", help="study in results/")


def run(args: argparse.Namespace) -> int:
    """Print the matrix of Table 4, what it leaves out, and the places of tables and figures."""
    from dhd.records import read_table
    from dhd.records.failures import study_failures
    from dhd.report.frames import read_tables

    folder = StudyPaths.of(args.study).folder
    if not (folder / "tables" / "table_04.csv").is_file():
        raise RecordsError(_no_tables(folder))
    tables = read_tables(folder / "tables")
    messages = read_table("messages", folder / "records" / "messages.parquet")
    print(f"\nStudy {args.study}: {_messages_line(messages)}")
    print("W wrong, C correct answer; + helpful, 0 neutral, - harmful effect on the integrator\n")
    print("\n".join(matrix_lines(tables["table_04"])))
    if "left_out" in tables:
        print("\n".join(["", *left_out_lines(tables["left_out"])]))
    if failures := study_failures(folder):
        print("\n".join(["", "Lacking, and why", *failures]))
    print(f"\nTables   {folder}/tables/\nFigures  {folder}/figures/figure_04.png and others")
    return 0


def _messages_line(messages: pd.DataFrame) -> str:
    """Return how many messages there are, and how many of them state a right answer."""
    from dhd.wording import number_of

    there = messages[(messages["status"] == "ok").to_numpy()]
    judged = there["proposal_correct"].dropna()
    of = f"{len(there):,} of " if len(there) < len(messages) else ""
    right = f", {judged.mean():.0%} right" if len(judged) else ", none judged" if len(there) else ""
    return f"{of}{number_of(len(messages), 'message')}{right}"


def matrix_lines(table: pd.DataFrame) -> list[str]:
    """Return Table 4 as aligned lines of text, a head first."""
    rows = [(_REPLAYS.get(str(row["replay"]), str(row["replay"])), row) for row in _rows(table)]
    return _lines("replay", _CELLS, rows)


def left_out_lines(table: pd.DataFrame) -> list[str]:
    """Return what the matrix counts and leaves out as lines of text, with the reasons."""
    names = {"problem": "problems", **_REPLAYS}
    rows = [(names[row["unit"]], row) for row in _rows(table) if row["benchmark"] == "pooled"]
    if all(row["counted_n"] == row["all_n"] for _, row in rows):
        return ["Counted: all problems and messages"]
    return [
        "Counted and left out. A problem is left out whole, with its messages, when an answer",
        "that the pool's replays need is missing (no such row), failed or unjudged.",
        "",
        *_lines("", _LEFT_OUT, rows),
    ]


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(k): v for k, v in row.items()} for row in table.to_dict("records")]


def _lines(
    head: str, columns: Mapping[str, str], rows: Sequence[tuple[str, Mapping[str, Any]]]
) -> list[str]:
    """Return rows with a model, a name and counts as aligned lines under their heads."""
    width = max(len("model"), *(len(str(row["model"])) for _, row in rows))
    widths = {name: max(7, len(title) + 2) for name, title in columns.items()}
    heads = "".join(f"{title:>{widths[name]}}" for name, title in columns.items())
    lines = [f"{'model':<{width}}  {head:<24}{heads}"]
    for name, row in rows:
        counts = "".join(f"{int(row[key]):>{size},}" for key, size in widths.items())
        lines.append(f"{row['model']!s:<{width}}  {name:<24}{counts}")
    return lines


def _no_tables(folder: Path) -> str:
    """Return why there is no matrix, and the command that makes it."""
    from dhd.status.command import rerun_command

    command = rerun_command(folder)
    run = f"run `{command}`" if command else "run `snakemake --configfile FILE` with its config"
    if folder.is_dir():
        return (
            f"{folder}/tables: no table_04 yet: study {folder.name!r} is not finished; {run} to "
            f"go on, and see `dhd status --study {folder.name}`"
        )
    others = sorted(path.parent.name for path in folder.parent.glob("*/tables"))
    known = f"tables are there of {', '.join(others)}; " if others else ""
    return f"--study {folder.name!r}: no such study in {folder.parent}/; {known}{run} to make it"
