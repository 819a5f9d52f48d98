"""``dhd matrix``: the six-cell matrix of a study, on the terminal."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dhd matrix``."""
    parser.add_argument("--study", required=True, metavar="NAME", help="study in results/")


def run(args: argparse.Namespace) -> int:
    """Print the matrix of Table 4 and the places of tables and figures."""
    from dhd.records import read_table
    from dhd.report.frames import read_tables

    folder = StudyPaths.of(args.study).folder
    tables = read_tables(folder / "tables")
    if "table_04" not in tables:
        raise RecordsError(f"{folder}/tables: has no table_04; run `snakemake tables` first")
    messages = read_table("messages", folder / "records" / "messages.parquet")
    correct = messages["proposal_correct"].dropna()
    print(
        f"\nStudy {args.study}: {len(messages):,} messages, {correct.mean():.0%} answered rightly"
    )
    print("W wrong, C correct answer; + helpful, 0 neutral, - harmful effect on the integrator\n")
    print("\n".join(matrix_lines(tables["table_04"])))
    print(f"\nTables   {folder}/tables/\nFigures  {folder}/figures/figure_04.png and others")
    return 0


def matrix_lines(table: pd.DataFrame) -> list[str]:
    """Return Table 4 as aligned lines of text, a head first."""
    width = max(map(len, [*table["model"].astype(str), "model"]))
    lines = [f"{'model':<{width}}  {'replay':<24}" + "".join(f"{c:>7}" for c in _CELLS.values())]
    for row in table.to_dict("records"):
        counts = "".join(f"{int(row[name]):>7,}" for name in _CELLS)
        replay = _REPLAYS.get(str(row["replay"]), str(row["replay"]))
        lines.append(f"{row['model']:<{width}}  {replay:<24}{counts}")
    return lines
