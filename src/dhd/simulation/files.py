"""Benchmark files of stand-in problems, in the format of a user's own benchmark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from dhd.files import replacing
from dhd.simulation.stand_ins import PREFIXES, StandIn, codes, stand_in

LICENSE: Final = "MIT"


def write_stand_ins(folder: Path, limit: int | None = None) -> dict[str, int]:
    """Write the stand-ins of the paper's five benchmarks, a JSONL each.

    Parameters
    ----------
    folder
        Where the files go: ``omni_math_2.jsonl``, ``jeebench.jsonl``, … The same call writes
        the same bytes.
    limit
        Problems of each benchmark at most; the paper's numbers (Table 2) if not told. They are
        spread over the whole, so that few problems have all strata.

    Returns
    -------
    Problems written by benchmark.
    """
    written = {}
    for benchmark in PREFIXES.values():
        names = codes(benchmark)
        if limit is not None and limit < len(names):
            names = tuple(names[place * len(names) // limit] for place in range(limit))
        lines = "".join(json.dumps(_row(stand_in(name))) + "\n" for name in names)
        with replacing(folder / f"{benchmark}.jsonl") as path:
            path.write_text(lines, encoding="utf-8")
        written[benchmark] = len(names)
    return written


def _row(item: StandIn) -> dict[str, Any]:
    row = {
        "problem_id": item.code,
        "problem": item.problem,
        "reference": item.item.right,
        "answer_format": item.answer_format,
        "options": None if item.item.options is None else list(item.item.options),
        "stratum": item.stratum,
        "unit": item.item.unit,
        "license": LICENSE,
        "source": "stand-in, made for this project",
    }
    return {name: value for name, value in row.items() if value is not None}
