"""All figures in all formats, with their captions."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from dhd.errors import RecordsError
from dhd.figures import agreement, availability, flips, offdiagonal, pool_size
from dhd.figures.style import RC
from dhd.report.cells import plain
from dhd.report.files import write_files
from dhd.report.labels import Labels
from dhd.report.left_out import left_out_note

# dhd.figures.style chooses the backend and must come before anything else of matplotlib.
from matplotlib import rc_context  # isort: skip
from matplotlib.backends.backend_agg import FigureCanvasAgg  # isort: skip
from matplotlib.backends.backend_pdf import FigureCanvasPdf  # isort: skip
from matplotlib.backends.backend_svg import FigureCanvasSVG  # isort: skip

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from dhd.analysis.settings import AnalysisSettings

FORMATS = ("pdf", "svg", "png")


@dataclass(frozen=True, slots=True)
class FigureKind:
    """One figure of the paper: how it is drawn, what its caption says, what it needs."""

    draw: Callable[[pd.DataFrame, Labels], Figure]
    caption: str
    columns: tuple[str, ...]


FIGURES: Mapping[str, FigureKind] = {
    "figure_04": FigureKind(
        flips.draw,
        flips.CAPTION,
        (
            "model",
            "proposed_answer",
            "flip_rate_pct",
            "helpful_share_pct",
            "helpful_n",
            "harmful_share_pct",
            "harmful_n",
        ),
    ),
    "figure_06": FigureKind(
        availability.draw,
        availability.CAPTION,
        ("model", "benchmark", "k0_accuracy_pct", "k5_accuracy_pct", "candidate_available_pct"),
    ),
    "figure_07": FigureKind(
        offdiagonal.draw,
        offdiagonal.CAPTION,
        ("model", "benchmark", "panel", "share_of_flips_pct", "flip_rate_pct", "flips_n"),
    ),
    "figure_08": FigureKind(
        pool_size.draw,
        pool_size.CAPTION,
        (
            "model",
            "benchmark",
            "k",
            "wrong_helpful_pct",
            "wrong_harmful_pct",
            "correct_helpful_pct",
            "correct_harmful_pct",
        ),
    ),
    "figure_09": FigureKind(
        agreement.draw,
        agreement.CAPTION,
        ("evaluator_a", "evaluator_b", "submissions_n", "agreement_pct", "kappa"),
    ),
}


def _save(figure: Figure, name: str) -> dict[str, bytes]:
    """Return the figure's files: bytes depend on the data and the library's version alone."""
    # The layout is the same in every format: solve it once. Figure.savefig would draw each
    # format twice, to solve it again; the canvases are therefore asked themselves.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    png, svg, pdf = io.BytesIO(), io.BytesIO(), io.BytesIO()
    # First the bitmap: the vector formats set the figure to 72 dots an inch.
    FigureCanvasAgg(figure).print_png(png, metadata={"Title": name})
    FigureCanvasSVG(figure).print_svg(svg, metadata={"Title": name, "Date": None})
    no_dates = {"Title": name, "CreationDate": None, "ModDate": None}
    FigureCanvasPdf(figure).print_pdf(pdf, metadata=no_dates)
    return {
        f"{name}.pdf": pdf.getvalue(),
        f"{name}.svg": svg.getvalue(),
        f"{name}.png": png.getvalue(),
    }


def _missing_note(name: str, frame: pd.DataFrame, labels: Labels) -> str:
    """Return a sentence that names what the figure shows as missing, or nothing."""
    kind = FIGURES[name]
    keys = [c for c in kind.columns if c in ("model", "benchmark", "evaluator_a", "evaluator_b")]
    values = [c for c in kind.columns if c.endswith(("_pct", "kappa"))]
    rows = frame[frame[values].isna().any(axis=1)]
    lacking = [tuple(row) for row in rows[keys].itertuples(index=False)]
    if keys == ["model", "benchmark"]:
        known = set(frame[keys].itertuples(index=False, name=None))
        every = product(frame["model"].unique(), frame["benchmark"].unique())
        lacking += [pair for pair in every if pair not in known]
    named = dict.fromkeys(
        " / ".join(labels.show(key, value) for key, value in zip(keys, pair, strict=True))
        for pair in lacking
    )
    return f" Not determined, shown as missing: {'; '.join(named)}." if named else ""


def render_figure(
    name: str, frame: pd.DataFrame, settings: AnalysisSettings, note: str = ""
) -> dict[str, bytes]:
    """Draw one figure.

    Parameters
    ----------
    name
        ``figure_04`` and so on (`FIGURES`).
    frame
        The computed table of that name: any number of models and benchmarks.
    settings
        Display names.
    note
        What follows the caption.

    Returns
    -------
    dict
        Bytes by file name: PDF, SVG, PNG and the caption as text.

    Raises
    ------
    RecordsError
        When the frame lacks a column that the figure shows.
    """
    kind = FIGURES[name]
    lacking = [column for column in kind.columns if column not in frame.columns]
    if lacking:
        raise RecordsError(
            f"{name}: lacks the column {', '.join(lacking)}; needs {', '.join(kind.columns)}"
        )
    labels = Labels(settings)
    with rc_context(RC):
        files = _save(kind.draw(frame, labels), name)
    number = int(name.removeprefix("figure_"))
    caption = f"Figure {number}. {kind.caption}{note}{_missing_note(name, frame, labels)}\n"
    return {**files, f"{name}.txt": caption.encode()}


def write_figures(
    tables: Mapping[str, pd.DataFrame], settings: AnalysisSettings, out: Path
) -> tuple[list[Path], list[str]]:
    """Draw every figure whose numbers `tables` holds, in all formats.

    All figures are drawn before the first is written.

    Returns
    -------
    tuple
        The files written, and the names of figures without numbers.
    """
    drawn = [name for name in FIGURES if name in tables and not tables[name].empty]
    absent = [name for name in FIGURES if name not in drawn]
    contents: dict[str, bytes] = {}
    labels = Labels(settings)
    for name in drawn:
        note = plain(left_out_note(name, tables, labels))
        contents |= render_figure(name, tables[name], settings, note)
    stale = [f"{name}.{suffix}" for name in absent for suffix in (*FORMATS, "txt")]
    return write_files(out, contents, stale), absent
