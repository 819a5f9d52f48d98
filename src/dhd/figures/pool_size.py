"""Figure 8: per-message leave-one-out rates by pool size and benchmark."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Patch

from dhd.figures.style import DARK_GREY, EFFECTS, FULL_WIDTH, INK, SMALL_PT, short
from dhd.report.labels import Labels

_MAX_COLUMNS = 6
_PANEL_IN = 1.25
_FLAT_PANEL_IN = 1.0
# A page is 9 inches high: many rows of panels are drawn flatter.
_TALL_LINES = 6
# Characters of panel titles that fit beside each other over the full width.
_TITLE_CHARACTERS = 90
_HEAD_IN = 0.22
_FOOT_IN = 0.4
_BAR = 0.2


def _shape(benchmarks: int) -> tuple[int, int]:
    """Return lines and columns of a model's panels, the lines about equally long."""
    lines = math.ceil(benchmarks / _MAX_COLUMNS)
    return lines, math.ceil(benchmarks / lines)


def _draw_panel(axes: Axes, rows: pd.DataFrame) -> None:
    sizes = rows["k"].astype(int).tolist()
    for position, (category, effect) in enumerate(EFFECTS.items()):
        heights = rows[f"{category}_pct"].astype(float)
        offsets = [k + (position - 1.5) * _BAR for k in sizes]
        axes.bar(
            offsets,
            heights.fillna(0.0),
            _BAR,
            color=effect.color,
            edgecolor=INK,
            linewidth=0.35,
            hatch=effect.hatch,
        )
    empty = rows[[f"{c}_pct" for c in EFFECTS]].isna().all(axis=1)
    for k in rows.loc[empty, "k"].astype(int):
        axes.text(
            k,
            0.03,
            "no data",
            rotation=90,
            ha="center",
            va="bottom",
            color=DARK_GREY,
            fontsize=SMALL_PT,
            transform=axes.get_xaxis_transform(),
        )
    if not rows[[f"{c}_pct" for c in EFFECTS]].fillna(0).to_numpy().any():
        axes.set_ylim(0, 1)
    axes.set_xticks(sizes)
    axes.set_xlim(min(sizes) - 0.55, max(sizes) + 0.55)
    axes.tick_params(axis="y", labelsize=SMALL_PT, pad=1.5)
    axes.locator_params(axis="y", nbins=4)


def _draw_model(
    part: Figure | SubFigure, frame: pd.DataFrame, benchmarks: list[str], labels: Labels
) -> None:
    lines, columns = _shape(len(benchmarks))
    panels = part.subplots(lines, columns, squeeze=False)
    for position, axes in enumerate(panels.ravel()):
        if position >= len(benchmarks):
            axes.set_axis_off()
            continue
        rows = frame[frame["benchmark"] == benchmarks[position]]
        name = labels.show("benchmark", benchmarks[position])
        axes.set_title(short(name, _TITLE_CHARACTERS // columns), pad=3)
        if rows.empty:
            axes.set_xticks([])
            axes.set_yticks([])
            axes.text(
                0.5,
                0.5,
                "no data",
                ha="center",
                va="center",
                color=DARK_GREY,
                fontsize=SMALL_PT,
                transform=axes.transAxes,
            )
            continue
        _draw_panel(axes, rows)
    for axes in panels[:, 0]:
        axes.set_ylabel("Messages (%)", fontsize=SMALL_PT)


def draw(frame: pd.DataFrame, labels: Labels) -> Figure:
    """Draw small multiples of grouped bars, a block a model, a panel a benchmark.

    Parameters
    ----------
    frame
        ``figure_08``: one row per model, benchmark and K with the four rates in percent.
    """
    models = labels.order("model", frame["model"])
    benchmarks = labels.order("benchmark", frame["benchmark"])
    lines, _ = _shape(len(benchmarks))
    panel = _PANEL_IN if len(models) * lines < _TALL_LINES else _FLAT_PANEL_IN
    height = len(models) * (_HEAD_IN + lines * panel) + _FOOT_IN
    width = min(FULL_WIDTH, 1.9 + 1.3 * (len(benchmarks) - 1))
    width = max(width, 3.3)
    figure = Figure(figsize=(width, height), layout="constrained")
    parts = figure.subfigures(len(models), 1, squeeze=False)[:, 0]
    for model, part in zip(models, parts, strict=True):
        part.suptitle(short(labels.show("model", model), 60), x=0.01, ha="left", fontweight="bold")
        _draw_model(part, frame[frame["model"] == model], benchmarks, labels)
    parts[-1].supxlabel("Pool size K", fontsize=SMALL_PT)
    handles = [
        Patch(facecolor=e.color, edgecolor=INK, linewidth=0.35, hatch=e.hatch, label=e.name)
        for e in EFFECTS.values()
    ]
    columns = 4 if width > 5 else 2
    figure.legend(handles=handles, loc="outside lower center", ncols=columns)
    return figure


CAPTION = (
    "Per-message leave-one-out rates by K and benchmark: the share of all eligible LOO messages "
    "at that K, in the order W+, W−, C+, C− within each group of bars. Helpful (W+, C+, plain): "
    "removal breaks a correct full-pool result; harmful (W−, C−, hatched): removal fixes a wrong "
    "one. Scales differ between panels."
)
