"""Equality of answers: normalised texts as integer codes."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dhd.analysis.cells import Texts

Codes = npt.NDArray[np.int64]

#: The one signature that all answers judged correct share in the majority diagnostic.
CORRECT: Final = -1


def normalise_answer(text: str) -> str:
    """Collapse white space and lower the case of an answer."""
    return " ".join(text.split()).lower()


def answer_codes(answers: Texts) -> Codes:
    """Return a code per answer, equal where normalised answers are equal; any shape.

    A missing answer (None, or nothing but white space) is its own signature: each gets a
    negative code below :data:`CORRECT` that no other answer has.
    """
    flat = answers.ravel()
    raw, texts = pd.factorize(flat)
    normalised = [normalise_answer(text) for text in texts]
    merged, _ = pd.factorize(np.asarray([*normalised, ""], dtype=object))
    absent = merged[-1]
    codes: Codes = np.where(raw < 0, absent, merged[raw]).astype(np.int64)
    missing = codes == absent
    codes[missing] = CORRECT - 1 - np.arange(int(missing.sum()))
    return codes.reshape(answers.shape)


def sizes_of_agreement(codes: Codes) -> Codes:
    """Return how many of a row's codes equal each of them, itself included; n × m."""
    sizes: Codes = (codes[:, :, None] == codes[:, None, :]).sum(axis=2)
    return sizes
