"""Write computed tables: CSV and Parquet as computed, LaTeX and Markdown as the paper prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dhd.report.files import write_files
from dhd.report.frames import csv_bytes, parquet_bytes
from dhd.report.grid import build_grid
from dhd.report.latex import latex_table
from dhd.report.layouts import layout_of
from dhd.report.markdown import markdown_table

if TYPE_CHECKING:
    import pandas as pd

    from dhd.analysis.registry import ComputedTables
    from dhd.analysis.settings import AnalysisSettings

FORMATS = ("csv", "parquet", "tex", "md")


def render_table(name: str, frame: pd.DataFrame, settings: AnalysisSettings) -> dict[str, bytes]:
    """Return the files of one table, by file name."""
    grid = build_grid(name, frame, layout_of(name, frame), settings)
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
    for name, frame in computed.tables.items():
        contents |= render_table(name, frame, settings)
    stale = [f"{name}.{suffix}" for name in computed.absent for suffix in FORMATS]
    return write_files(out, contents, stale)
