"""Figure 4: direction of in-pool LOO effects among replays that flip final correctness."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dhd.figures.style import (
    BLUE,
    COLUMN_WIDTH,
    DARK_GREY,
    INK,
    ORANGE,
    SMALL_PT,
    count,
    percent,
    short,
)
from dhd.report.labels import Labels

_ROW_IN = 0.42
_HEAD_IN = 0.22
_FOOT_IN = 0.6
# A bar holds its two-line label from this share on; a shorter one has it outside.
_INSIDE_PCT = 36.0


def _bar(axes: Axes, y: float, share: float, n: float, *, helpful: bool) -> None:
    sign = 1 if helpful else -1
    axes.barh(
        y,
        sign * share,
        height=0.72,
        color=BLUE if helpful else ORANGE,
        edgecolor=INK,
        linewidth=0.5,
        hatch="" if helpful else "////",
    )
    inside = share >= _INSIDE_PCT
    x = sign * (share / 2 if inside else share + 2)
    align = "center" if inside else ("left" if helpful else "right")
    box = None
    if inside and not helpful:
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.85}
    axes.text(
        x,
        y,
        f"{percent(share)}\nn={count(n)}",
        ha=align,
        va="center",
        fontsize=SMALL_PT,
        linespacing=1.05,
        color="white" if inside and helpful else INK,
        bbox=box,
    )


def _draw_row(axes: Axes, y: float, row: pd.Series) -> None:
    if row.isna()[["helpful_share_pct", "harmful_share_pct"]].any():
        axes.text(
            0,
            y,
            "no flips",
            ha="center",
            va="center",
            fontsize=SMALL_PT,
            color=DARK_GREY,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
        )
        return
    _bar(axes, y, row["harmful_share_pct"], row["harmful_n"], helpful=False)
    _bar(axes, y, row["helpful_share_pct"], row["helpful_n"], helpful=True)


def _row_label(row: pd.Series) -> str:
    rate = row["flip_rate_pct"]
    said = "no messages" if pd.isna(rate) else f"flip rate {percent(rate)}"
    return f"{str(row['proposed_answer']).capitalize()} answer\n{said}"


def draw(frame: pd.DataFrame, labels: Labels) -> Figure:
    """Draw shares of helpful and harmful flips, a panel a model, a bar pair a proposed answer.

    Parameters
    ----------
    frame
        ``figure_04``: one row per model and proposed answer, percent and counts.
    """
    models = labels.order("model", frame["model"])
    heights = [_HEAD_IN + _ROW_IN * int((frame["model"] == m).sum()) for m in models]
    figure = Figure(figsize=(COLUMN_WIDTH, sum(heights) + _FOOT_IN), layout="constrained")
    panels = figure.subplots(
        len(models), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights}
    )[:, 0]
    for position, (model, axes) in enumerate(zip(models, panels, strict=True)):
        rows = frame[frame["model"] == model].reset_index(drop=True)
        for y, row in rows.iterrows():
            _draw_row(axes, y, row)
        axes.set_yticks(range(len(rows)), [_row_label(row) for _, row in rows.iterrows()])
        axes.tick_params(axis="y", length=0, labelsize=SMALL_PT)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.axvline(0, color=INK, linewidth=0.7)
        axes.spines["left"].set_visible(False)
        name = short(labels.show("model", model), 30)
        letter = f"{chr(ord('A') + position)}  " if len(models) > 1 else ""
        axes.set_title(letter + name, loc="left", fontweight="bold", pad=3)
    panels[-1].set_xlim(-105, 105)
    panels[-1].set_xticks([-100, -50, 0, 50, 100], ["100", "50", "0", "50", "100"])
    panels[-1].set_xlabel("← harmful | helpful →\nShare among correctness flips (%)")
    return figure


CAPTION = (
    "Direction of in-pool LOO effects among replays that flip final correctness. Among flips, "
    "bars show which direction they took: harmful (left, hatched) or helpful (right, plain); "
    "the two shares of a row add to 100%. Bar labels give shares and numbers of flips. The flip "
    "rate beside each row is over all eligible messages, neutral replays included."
)
