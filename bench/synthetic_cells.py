"""The cells of each study: which messages every integrator call of a problem sees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

POOL = 5
BLOCKS = 5


@dataclass(frozen=True)
class Cells:
    """The cells of one study, the same for every problem of it."""

    condition: list[str]
    k: list[int]
    message_index: list[int]
    block: list[int]
    repeat: list[int]
    shown: npt.NDArray[np.bool_]


def scan_cells() -> Cells:
    """Return the 25 cells of the complete scan."""
    entries: list[tuple[str, int, int, set[int]]] = [("independent", 0, 0, set())]
    entries += [("single", 1, i, {i}) for i in range(1, POOL + 1)]
    entries += [("full", k, 0, set(range(1, k + 1))) for k in range(1, POOL + 1)]
    entries += [
        ("removal", k, i, set(range(1, k + 1)) - {i})
        for k in range(2, POOL + 1)
        for i in range(1, k + 1)
    ]
    return _cells([(c, k, i, 0, 1, shown) for c, k, i, shown in entries])


def repeated_cells(blocks: int) -> Cells:
    """Return seven cells a block: two full, five removals."""
    everything = set(range(1, POOL + 1))
    entries: list[tuple[str, int, int, int, int, set[int]]] = []
    for block in range(1, blocks + 1):
        entries += [("full", POOL, 0, block, repeat, everything) for repeat in (1, 2)]
        entries += [("removal", POOL, i, block, 1, everything - {i}) for i in sorted(everything)]
    return _cells(entries)


def masking_cells(target: int) -> Cells:
    """Return eight cells a block for one case; masking hides half of what the message does."""
    everything = set(range(1, POOL + 1))
    less = everything - {target}
    entries: list[tuple[str, int, int, int, int, set[int]]] = []
    for block in range(1, BLOCKS + 1):
        for condition in ("full", "repeat"):
            entries += [(condition, POOL, target, block, repeat, everything) for repeat in (1, 2)]
        for condition in ("removal", "neutral", "mask_reasoning"):
            entries.append((condition, POOL, target, block, 1, less))
        entries.append(("mask_answer", POOL, target, block, 1, everything))
    return _cells(entries)


def _cells(entries: list[tuple[str, int, int, int, int, set[int]]]) -> Cells:
    condition, k, index, block, repeat, shown = (
        list(column) for column in zip(*entries, strict=True)
    )
    matrix = np.array([[i in s for i in range(1, POOL + 1)] for s in shown])
    return Cells(condition, k, index, block, repeat, matrix)
