"""One look for all figures: sizes, fonts, colours that survive grey print, text helpers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

# Printed sizes in inches and points: a column and the full width of a two-column page.
COLUMN_WIDTH = 3.3
FULL_WIDTH = 7.0
TEXT_PT = 7.0
SMALL_PT = 6.2

# Okabe–Ito: distinct to colour-blind readers; of different lightness or hatch in grey.
BLUE = "#0072B2"
SKY = "#56B4E9"
VERMILLION = "#D55E00"
YELLOW = "#F0E442"
ORANGE = "#E69F00"
INK = "#1a1a1a"
GREY = "#8a8a8a"
DARK_GREY = "#5a5a5a"

RC: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": TEXT_PT,
    "axes.titlesize": TEXT_PT,
    "axes.labelsize": TEXT_PT,
    "xtick.labelsize": SMALL_PT,
    "ytick.labelsize": TEXT_PT,
    "legend.fontsize": SMALL_PT,
    "figure.titlesize": TEXT_PT,
    "axes.linewidth": 0.6,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
    "legend.handletextpad": 0.3,
    "legend.columnspacing": 1.0,
    # Names come from users: a dollar sign in one is no formula.
    "text.parse_math": False,
    # Text stays text in the PDF (embedded TrueType) and is drawn as paths in the SVG, so that
    # both look the same everywhere; a fixed salt makes the SVG's ids, hence its bytes, stable.
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "dhd",
    "figure.dpi": 300,
}


@dataclass(frozen=True, slots=True)
class Effect:
    """How one message category is drawn."""

    name: str
    color: str
    hatch: str


# Helpful plain and harmful hatched, wrong dark and correct light: four looks in grey.
EFFECTS = {
    "wrong_helpful": Effect("Wrong helpful (W+)", BLUE, ""),
    "wrong_harmful": Effect("Wrong harmful (W−)", VERMILLION, "//////"),
    "correct_helpful": Effect("Correct helpful (C+)", SKY, ""),
    "correct_harmful": Effect("Correct harmful (C−)", YELLOW, "//////"),
}


def short(name: str, width: int, lines: int = 1) -> str:
    """Return `name` on at most `lines` lines of `width` characters, cut with an ellipsis.

    Lines break at spaces and after ``-``, ``_`` and ``/``, since keys have no spaces.
    """
    broken = [""]
    for piece in re.findall(r"[^\s\-_/]*[\s\-_/]?", name):
        if broken[-1] and len((broken[-1] + piece).rstrip()) > width:
            broken.append("")
        broken[-1] += piece
        while len(broken[-1].rstrip()) > width:
            broken[-1:] = [broken[-1][:width], broken[-1][width:]]
    if len(broken) > lines:
        broken = broken[:lines]
        broken[-1] = broken[-1].rstrip()[: width - 1] + "…"
    return "\n".join(line.strip() for line in broken)


def percent(value: float) -> str:
    """Return ``41.9%``."""
    return f"{value:.1f}%"


def count(value: float) -> str:
    """Return a count with thousands commas."""
    return f"{value:,.0f}"
