"""Figure 9: pairwise agreement of evaluators under the same answer-equivalence procedure."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from dhd.figures.style import BLUE, COLUMN_WIDTH, DARK_GREY, INK, SMALL_PT, percent, short
from dhd.report.labels import Labels

_ROW_IN = 0.38
_FOOT_IN = 0.42
# A bar shorter than this cannot hold its kappa, which is then written after it.
_INSIDE_PCT = 30.0


def draw(frame: pd.DataFrame, labels: Labels) -> Figure:
    """Draw a bar a pair of evaluators with Cohen's kappa inside.

    Parameters
    ----------
    frame
        ``figure_09``: one row per pair, agreement in percent and kappa.
    """
    figure = Figure(
        figsize=(COLUMN_WIDTH, _FOOT_IN + _ROW_IN * max(len(frame), 1)), layout="constrained"
    )
    axes = figure.subplots()
    for y, (_, row) in enumerate(frame.iterrows()):
        pair = " vs ".join(
            short(labels.show("evaluator", row[side]), 29)
            for side in ("evaluator_a", "evaluator_b")
        )
        axes.text(0, y - 0.28, pair, fontsize=SMALL_PT, va="bottom")
        if pd.isna(row["agreement_pct"]):
            axes.text(1, y, "no data", fontsize=SMALL_PT, va="center", color=DARK_GREY)
            continue
        axes.barh(y, row["agreement_pct"], height=0.46, color=BLUE, edgecolor=INK, linewidth=0.5)
        kappa = "κ undefined" if pd.isna(row["kappa"]) else f"κ = {row['kappa']:.3f}"
        end = percent(row["agreement_pct"])
        if row["agreement_pct"] >= _INSIDE_PCT:
            axes.text(3, y, kappa, fontsize=SMALL_PT, va="center", color="white")
        else:
            end = f"{end}  ({kappa})"
        axes.text(row["agreement_pct"] + 1.5, y, end, fontsize=SMALL_PT, va="center")
    axes.set_ylim(max(len(frame), 1) - 0.6, -0.75)
    axes.set_xlim(0, 118)
    axes.set_xticks([0, 25, 50, 75, 100])
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("Agreement on binary evaluator judgments (%)")
    return figure


CAPTION = (
    "Pairwise agreement of evaluators under the same answer-equivalence procedure. Percentages "
    "are over submissions with valid judgments from both evaluators; Cohen's κ is shown inside "
    "each bar."
)
