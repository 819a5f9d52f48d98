"""Plans and powers as text for a terminal and as rows for a CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from dhd.files import replacing
from dhd.planning.plan import PlanRow, summed
from dhd.simulation.power import KINDS, DesignPower, Expected

_PLAN_HEAD: Final = (
    "part", "stage", "family", "model", "calls", "+-", "prompt Mtok", "output Mtok",
    "GPU-h", "shards", "jobs",
)  # fmt: skip
_POWER_HEAD: Final = (
    "blocks", "problems", "calls", "W+", "W-", "C+", "C-", "false", "planted", "power", "blocked",
)  # fmt: skip
_TEXT_COLUMNS: Final = 4
_SHARED: Final = "-"
_SHARING: Final = f"{_SHARED}: in the shards and jobs of the family's first protocol"
PLAN_COLUMNS: Final = (
    "part",
    "stage",
    "family",
    "model",
    "benchmark",
    "problems",
    "calls",
    "calls_se",
    "prompt_tokens",
    "output_tokens",
    "gpu_hours",
    "shards",
    "jobs",
)


def plan_lines(rows: Sequence[PlanRow]) -> list[str]:
    """Return a plan as aligned lines: a head, a line per part, stage and model, and the sum."""
    cells = [[*key, *_sums(group)] for key, group in summed(rows).items()]
    total = ["total", "", "", "", *_sums(rows)]
    lines = aligned([list(_PLAN_HEAD), *cells, total], texts=_TEXT_COLUMNS)
    return [*lines, _SHARING] if any(cell[-1] == _SHARED for cell in cells) else lines


def _sums(rows: Sequence[PlanRow]) -> list[str]:
    shards, jobs = [row.shards for row in rows], [row.jobs for row in rows]
    error = sum(row.calls_se**2 for row in rows) ** 0.5
    return [
        f"{sum(row.calls for row in rows):,.0f}",
        f"{error:,.0f}",
        f"{sum(row.prompt_tokens for row in rows) / 1e6:,.2f}",
        f"{sum(row.output_tokens for row in rows) / 1e6:,.2f}",
        f"{sum(row.gpu_hours for row in rows):,.1f}",
        *(f"{sum(counts):,}" if any(counts) else _SHARED for counts in (shards, jobs)),
    ]


def power_lines(designs: Iterable[DesignPower]) -> list[str]:
    """Return the power of some designs as aligned lines.

    Counts of separated messages are means, with the range of 95 % of single studies.
    """
    cells = [
        [
            str(one.blocks),
            f"{one.problems:,}",
            f"{one.calls:,}",
            *(_counted(getattr(one, kind)) for kind in KINDS),
            f"{one.false_direction:.1f}",
            f"{one.planted:.1f}",
            f"{one.power:.0%}",
            f"{one.blocked_problems:.1f}",
        ]
        for one in designs
    ]
    return aligned([list(_POWER_HEAD), *cells], texts=0)


def _counted(count: Expected) -> str:
    """Return a mean count with the range in which 95 % of single studies lie."""
    return f"{count.mean:.1f} ({count.low:.0f}-{count.high:.0f})"


def aligned(rows: Sequence[Sequence[str]], *, texts: int) -> list[str]:
    """Return rows as lines with aligned columns: the first ``texts`` to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place < texts else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def write_plan(rows: Iterable[PlanRow], path: Path) -> None:
    """Write a plan as CSV, a line per part, stage, family, model and benchmark."""
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(PLAN_COLUMNS)
        for row in rows:
            line = row.line
            writer.writerow(
                [
                    line.part,
                    line.stage,
                    line.family,
                    line.model,
                    line.benchmark,
                    round(row.problems, 2),
                    round(row.calls, 1),
                    round(row.calls_se, 1),
                    round(row.prompt_tokens),
                    round(row.output_tokens),
                    round(row.gpu_hours, 3),
                    row.shards,
                    row.jobs,
                ]
            )
