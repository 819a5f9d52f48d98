"""Figure 7: off-diagonal in-pool LOO outcomes by benchmark and model, as a heat map."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from dhd.figures.style import (
    COLUMN_WIDTH,
    FULL_WIDTH,
    GREY,
    INK,
    SMALL_PT,
    TEXT_PT,
    count,
    percent,
    short,
)
from dhd.report.labels import Labels

_PANELS = {
    "wrong_helpful": ("Wrong answer,\nhelpful effect", "Blues"),
    "correct_harmful": ("Correct answer,\nharmful effect", "Oranges"),
}
_CELL_HEIGHT_IN = 0.46
_HEAD_IN = 0.75
# Beside each other, cells keep the width that "flip 16.2%" needs in print.
_MAX_MODELS_BESIDE = 4


def _ink(color: tuple[float, float, float, float]) -> str:
    """Return black or white, whichever stands out more on `color` (WCAG relative luminance)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "white" if luminance < 0.179 else INK


def _draw_missing(axes: Axes, x: int, y: int) -> None:
    axes.add_patch(
        Rectangle(
            (x - 0.46, y - 0.46),
            0.92,
            0.92,
            facecolor="none",
            edgecolor=GREY,
            linewidth=0.6,
            linestyle=(0, (2, 2)),
        )
    )


def _draw_cell(axes: Axes, x: int, y: int, row: pd.Series | None, colors: Colormap) -> None:
    centred: dict[str, Any] = {"ha": "center", "va": "center", "linespacing": 1.0}
    text = {**centred, "fontsize": SMALL_PT}
    if row is None:
        _draw_missing(axes, x, y)
        axes.text(x, y, "no data", **text)
        return
    rate = "no messages" if pd.isna(row["flip_rate_pct"]) else percent(row["flip_rate_pct"])
    small = f"flip {rate}\nn={count(row['flips_n'])}"
    share = row["share_of_flips_pct"]
    if pd.isna(share):
        _draw_missing(axes, x, y)
        axes.text(x, y - 0.2, "no flips", **text)
        axes.text(x, y + 0.2, small, **text)
        return
    # The map's darkest tones are left out: neither black nor white text reads well on them.
    color = colors(0.08 + 0.72 * share / 100)
    corner = (x - 0.5, y - 0.5)
    axes.add_patch(Rectangle(corner, 1, 1, facecolor=color, edgecolor="white", linewidth=1.2))
    large = {**centred, "fontsize": TEXT_PT + 1, "fontweight": "bold"}
    axes.text(x, y - 0.2, percent(share), color=_ink(color), **large)
    axes.text(x, y + 0.2, small, color=_ink(color), **text)


def _draw_panel(axes: Axes, frame: pd.DataFrame, panel: str, labels: Labels) -> None:
    models = labels.order("model", frame["model"])
    benchmarks = labels.order("benchmark", frame["benchmark"])
    rows = {
        (row["model"], row["benchmark"]): row
        for _, row in frame[frame["panel"] == panel].iterrows()
    }
    title, colors = _PANELS[panel]
    for x, model in enumerate(models):
        for y, benchmark in enumerate(benchmarks):
            _draw_cell(axes, x, y, rows.get((model, benchmark)), colormaps[colors])
    axes.set_xlim(-0.5, len(models) - 0.5)
    axes.set_ylim(len(benchmarks) - 0.5, -0.5)
    axes.set_xticks(
        range(len(models)), [short(labels.show("model", m), 12, lines=2) for m in models]
    )
    axes.xaxis.tick_top()
    axes.set_yticks(
        range(len(benchmarks)), [short(labels.show("benchmark", b), 14, 2) for b in benchmarks]
    )
    axes.tick_params(length=0, labelsize=TEXT_PT)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_title(title, fontweight="bold", pad=6)


def draw(frame: pd.DataFrame, labels: Labels) -> Figure:
    """Draw two panels, benchmarks down and models across.

    Parameters
    ----------
    frame
        ``figure_07``: one row per model, benchmark and panel; percent and counts.
    """
    models = frame["model"].nunique()
    benchmarks = frame["benchmark"].nunique()
    beside = models <= _MAX_MODELS_BESIDE
    height = _HEAD_IN + _CELL_HEIGHT_IN * benchmarks
    width = COLUMN_WIDTH if models == 1 else FULL_WIDTH
    figure = Figure(figsize=(width, height if beside else 2 * height), layout="constrained")
    shape = (1, 2) if beside else (2, 1)
    panels = figure.subplots(*shape, sharey=beside, squeeze=False).ravel()
    for axes, panel in zip(panels, _PANELS, strict=True):
        _draw_panel(axes, frame, panel, labels)
    return figure


CAPTION = (
    "Off-diagonal in-pool LOO outcomes by benchmark and model. Left: helpful share among flips "
    "from messages with wrong proposed answers. Right: harmful share among flips from messages "
    "with correct proposed answers. Large numbers give these shares (darker is larger), small "
    "ones the flip rate among all eligible messages and the number of flips. Levels across "
    "benchmarks are descriptive."
)
