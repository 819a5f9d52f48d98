"""Figure 6: candidate availability and integration outcomes by benchmark."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dhd.figures.style import (
    BLUE,
    COLUMN_WIDTH,
    DARK_GREY,
    FULL_WIDTH,
    GREY,
    INK,
    ORANGE,
    SMALL_PT,
    VERMILLION,
    short,
)
from dhd.report.labels import Labels

_ROW_IN = 0.36
_HEAD_IN = 0.55
_FOOT_IN = 0.3
# Width of a value label, as a share of the axis (a narrow panel, with a margin).
_LABEL_SHARE = 0.14
# column → (legend, colour, marker)
_SERIES = {
    "k0_accuracy_pct": ("Independent K=0", ORANGE, "o"),
    "k5_accuracy_pct": ("Full pool K=5", BLUE, "s"),
    "candidate_available_pct": ("Candidate available", VERMILLION, "^"),
}


def _draw_row(axes: Axes, y: float, row: pd.Series) -> None:
    known = {column: row[column] for column in _SERIES if not pd.isna(row[column])}
    if known:
        axes.hlines(y, min(known.values()), max(known.values()), color=GREY, lw=0.8, zorder=1)
    for column, value in known.items():
        _, color, marker = _SERIES[column]
        axes.plot(value, y, marker, ms=4.5, color=color, mec=INK, mew=0.5, zorder=3)
    missing = [name for column, (name, _, _) in _SERIES.items() if column not in known]
    if missing:
        _note_missing(axes, y, known, missing)
    _label_row(axes, y, known)


def _note_missing(axes: Axes, y: float, known: dict[str, float], missing: list[str]) -> None:
    """Say what is missing, at the side of the row that has more room."""
    low, high = axes.get_xlim()
    right = bool(known) and sum(known.values()) / len(known) < (low + high) / 2
    axes.annotate(
        "no data" if not known else "no data: " + ", ".join(missing),
        (0.99 if right else 0.01, y),
        xycoords=("axes fraction", "data"),
        ha="right" if right else "left",
        va="center",
        fontsize=SMALL_PT,
        color=DARK_GREY,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
    )


def _label_row(axes: Axes, y: float, known: dict[str, float]) -> None:
    """Write values: full pool below its marker; the other two above, growing apart."""
    full = known.get("k5_accuracy_pct")
    if full is not None:
        axes.annotate(
            f"{full:.1f}",
            (full, y),
            (0, -5),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=SMALL_PT,
        )
    above = sorted(value for column, value in known.items() if column != "k5_accuracy_pct")
    low, high = axes.get_xlim()
    apart = len(above) < 2 or above[-1] - above[0] > _LABEL_SHARE * (high - low)
    for position, value in enumerate(above):
        # Close labels grow apart: the lower one ends at its marker, the higher one starts there.
        align = "center" if apart else ("right" if position == 0 else "left")
        axes.annotate(
            f"{value:.1f}",
            (value, y),
            ({"center": 0, "right": -1, "left": 1}[align], 4),
            textcoords="offset points",
            ha=align,
            va="bottom",
            fontsize=SMALL_PT,
        )


def _limits(frame: pd.DataFrame) -> tuple[float, list[int]]:
    low = frame[list(_SERIES)].min(axis=None)
    low = 0.0 if math.isnan(low) else low
    start = max(0, int((low - 4) // 20 * 20))
    return start, list(range(start, 101, 20))


def draw(frame: pd.DataFrame, labels: Labels) -> Figure:
    """Draw three dots a benchmark in a panel a model.

    Parameters
    ----------
    frame
        ``figure_06``: one row per model and benchmark, percent of problems.
    """
    models = labels.order("model", frame["model"])
    columns = min(2, len(models))
    lines = math.ceil(len(models) / columns)
    benchmarks = labels.order("benchmark", frame["benchmark"])
    height = lines * (_HEAD_IN + _ROW_IN * len(benchmarks)) + _FOOT_IN
    width = COLUMN_WIDTH if columns == 1 else FULL_WIDTH
    figure = Figure(figsize=(width, height), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    start, ticks = _limits(frame)
    for position, (model, axes) in enumerate(zip(models, panels, strict=False)):
        rows = frame[frame["model"] == model].set_index("benchmark").reindex(benchmarks)
        axes.set_xlim(start - 4, 107)
        for y, benchmark in enumerate(benchmarks):
            _draw_row(axes, y, rows.loc[benchmark])
        names = [short(labels.show("benchmark", b), 16, lines=2) for b in benchmarks]
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xticks(ticks)
        axes.grid(axis="x", color="#dddddd", linewidth=0.5)
        axes.set_axisbelow(True)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("Share of problems (%)")
        letter = f"({chr(ord('a') + position)}) " if len(models) > 1 else ""
        axes.set_title(letter + short(labels.show("model", model), 36), fontweight="bold")
    for axes in panels[len(models) :]:
        axes.set_axis_off()
    handles = [
        panels[0].plot([], [], marker, ms=4.5, color=color, mec=INK, mew=0.5, label=name)[0]
        for name, color, marker in _SERIES.values()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


CAPTION = (
    "Candidate availability and integration outcomes: accuracy of the independent solver (circle),"
    " accuracy of the integrator at K=5 (square), and the share of problems where at least one "
    "message's proposed answer is correct (triangle). Availability is of answers, not of usable "
    "reasoning; an integrator may also find an answer that no message proposed. Complete problems "
    "of the leave-one-out sample."
)
