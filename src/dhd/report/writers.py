"""Write computed tables: CSV and Parquet as computed, LaTeX and Markdown as the paper prints."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from dhd.report.files import write_files
from dhd.report.frames import csv_bytes, parquet_bytes
from dhd.report.grid import build_grid
from dhd.report.labels import Labels
from dhd.report.latex import latex_table
from dhd.report.layouts import layout_of
from dhd.report.left_out import left_out_note
from dhd.report.markdown import markdown_table
from dhd.wording import number_of

if TYPE_CHECKING:
    import pandas as pd

    from dhd.analysis.registry import ComputedTables
    from dhd.analysis.settings import AnalysisSettings
    from dhd.report.cells import Cell

FORMATS = ("csv", "parquet", "tex", "md")


def render_table(
    name: str, frame: pd.DataFrame, settings: AnalysisSettings, note: Cell = ()
) -> dict[str, bytes]:
    """Return the files of one table, by file name; ``note`` follows its printed caption."""
    grid = build_grid(name, frame, layout_of(name, frame), settings, note)
    return {
        f"{name}.csv": csv_bytes(frame),
        f"{name}.parquet": parquet_bytes(frame),
        f"{name}.tex": latex_table(grid).encode(),
        f"{name}.md": markdown_table(grid).encode(),
    }


def write_tables(computed: ComputedTables, settings: AnalysisSettings, out: Path) -> list[Path]:
    """Write every computed table in four formats, flat in the folder `out`.

    All files are rendered before the first is written. Files of tables that are absent this time
    are removed, so that an earlier run's numbers are not taken for this one's.

    Parameters
    ----------
    computed
        Frames with raw keys and unrounded numbers, and the reasons for absent ones.
    settings
        Display names, and the numbers that captions quote.
    out
        Folder, made if missing.

    Returns
    -------
    list of Path
        The files written.
    """
    contents: dict[str, bytes] = {}
    labels = Labels(settings)
    for name, frame in computed.tables.items():
        note = left_out_note(name, computed.tables, labels)
        contents |= render_table(name, frame, settings, note)
    stale = [f"{name}.{suffix}" for name in computed.absent for suffix in FORMATS]
    return write_files(out, contents, stale)


def written_line(names: Iterable[str], files: int, out: Path) -> str:
    """Return what was written, for the log: tables of the paper, numbers of figures, the others.

    Parameters
    ----------
    names
        Names of the computed tables.
    files
        Number of files written.
    out
        Their folder.
    """
    kinds = {"table": 0, "figure": 0}
    others = []
    for name in names:
        kind, _, number = name.partition("_")
        if kind in kinds and number.isdigit():
            kinds[kind] += 1
        else:
            others.append(name)
    parts = [
        f"{number_of(kinds['table'], 'table')} of the paper",
        f"numbers of {number_of(kinds['figure'], 'figure')}",
        *others,
    ]
    return f"{', '.join(parts)}: {number_of(files, 'file')} in {out}"
