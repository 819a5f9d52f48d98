"""Arithmetic of message effects: from six-cell counts to the numbers of tables and figures.

Every function takes and gives frames, so that published counts can be put in as well as own
ones. Counts are columns ``wrong_helpful_n`` … ``correct_harmful_n`` (see ``cells``).

*Flip rate* = (helpful + harmful) / eligible; *helpful share* = helpful / (helpful + harmful).
"""

from __future__ import annotations

from typing import Final

import pandas as pd

from dhd.analysis.cells import SIX_COUNTS
from dhd.analysis.frames import percent

PROPOSALS: Final = ("wrong", "correct")
#: The cells of effects that change final correctness, in the column order of Table 3.
FLIP_COUNTS: Final = (
    "wrong_helpful_n",
    "wrong_harmful_n",
    "correct_helpful_n",
    "correct_harmful_n",
)


def effect_shares(counts: pd.DataFrame, proposal: str) -> pd.DataFrame:
    """Return flip rate and direction of the messages with wrong or with correct proposals.

    Parameters
    ----------
    counts
        Six-cell counts, any rows.
    proposal
        ``wrong`` or ``correct``.

    Returns
    -------
    On the same index: ``messages_n``, ``helpful_n``, ``harmful_n``, ``flips_n``,
    ``flip_rate_pct`` (NaN without messages), ``helpful_share_pct`` and ``harmful_share_pct``
    (NaN without flips).
    """
    helpful = counts[f"{proposal}_helpful_n"]
    harmful = counts[f"{proposal}_harmful_n"]
    flips = helpful + harmful
    messages = flips + counts[f"{proposal}_neutral_n"]
    return pd.DataFrame(
        {
            "messages_n": messages,
            "helpful_n": helpful,
            "harmful_n": harmful,
            "flips_n": flips,
            "flip_rate_pct": percent(flips, messages),
            "helpful_share_pct": percent(helpful, flips),
            "harmful_share_pct": percent(harmful, flips),
        },
        index=counts.index,
    )


def flip_labels(counts: pd.DataFrame) -> pd.DataFrame:
    """Reduce six-cell counts to the number of labels and the four cells that flip.

    Key columns are kept; ``labels_n`` counts all six cells.
    """
    keys = counts.drop(columns=list(SIX_COUNTS))
    return keys.assign(
        labels_n=counts[list(SIX_COUNTS)].sum(axis=1),
        **{name: counts[name] for name in FLIP_COUNTS},
    )


def non_neutral(labels: pd.DataFrame) -> pd.DataFrame:
    """Return Table 3 from the flip counts of one K: with ``non_neutral_n``, their sum."""
    return labels.assign(non_neutral_n=labels[list(FLIP_COUNTS)].sum(axis=1))


def flip_rates(labels: pd.DataFrame) -> pd.DataFrame:
    """Return Figure 8 from flip counts: each cell as percent of ``labels_n``."""
    rates = {
        name.removesuffix("_n") + "_pct": percent(labels[name], labels["labels_n"])
        for name in FLIP_COUNTS
    }
    return labels.assign(**rates)


def pooled_counts(counts: pd.DataFrame, pooled_key: str) -> pd.DataFrame:
    """Return the six-cell counts of each model, summed over its benchmarks.

    Parameters
    ----------
    counts
        Rows by model and benchmark, without a pooled row.
    pooled_key
        What stands in ``benchmark`` afterwards.
    """
    keys = [name for name in counts.columns if name not in (*SIX_COUNTS, "benchmark")]
    summed = counts.groupby(keys, sort=False, as_index=False)[list(SIX_COUNTS)].sum()
    summed.insert(1, "benchmark", pooled_key)
    return summed


def direction_rows(counts: pd.DataFrame) -> pd.DataFrame:
    """Return Figure 4 from pooled six-cell counts: a row for wrong, one for correct proposals."""
    columns = [
        "flip_rate_pct",
        "helpful_share_pct",
        "helpful_n",
        "harmful_share_pct",
        "harmful_n",
        "flips_n",
        "messages_n",
    ]
    keys = [name for name in counts.columns if name not in (*SIX_COUNTS, "benchmark")]
    parts = []
    for proposal in PROPOSALS:
        part = pd.concat([counts[keys], effect_shares(counts, proposal)[columns]], axis=1)
        part.insert(1, "proposed_answer", proposal)
        parts.append(part)
    return pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)


def off_diagonal_rows(counts: pd.DataFrame) -> pd.DataFrame:
    """Return Figure 7 from six-cell counts by model and benchmark.

    Panel ``wrong_helpful`` gives the helpful share among flips of wrong-answer messages,
    ``correct_harmful`` the harmful share among flips of correct-answer messages.
    """
    parts = []
    for proposal, direction in (("wrong", "helpful"), ("correct", "harmful")):
        shares = effect_shares(counts, proposal)
        part = counts.drop(columns=list(SIX_COUNTS)).assign(
            share_of_flips_pct=shares[f"{direction}_share_pct"],
            flip_rate_pct=shares["flip_rate_pct"],
            flips_n=shares["flips_n"],
            messages_n=shares["messages_n"],
        )
        part.insert(2, "panel", f"{proposal}_{direction}")
        parts.append(part)
    return pd.concat(parts, ignore_index=True)
