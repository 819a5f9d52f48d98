"""Triplets: the three answers whose verdicts make one six-cell label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dhd.analysis.cells import SIX_CELLS, ModelScan
from dhd.audits.submissions import AuditSubmission
from dhd.records import Records
from dhd.records.schemas import LOO_SIZES


@dataclass(frozen=True, slots=True)
class Triplet:
    """The proposed answer, the full-pool and the reduced-pool answer of one removal.

    Attributes
    ----------
    model, benchmark, problem_uid, k, message_index
        Which message was removed from which pool.
    cell
        Its six-cell label by the study's own verdicts.
    proposed, full, removal
        The three answers.
    """

    model: str
    benchmark: str
    problem_uid: str
    k: int
    message_index: int
    cell: str
    proposed: str
    full: str
    removal: str

    @property
    def triplet_id(self) -> str:
        """Return what identifies the triplet."""
        return f"{self.model}/{self.problem_uid}/k={self.k}/i={self.message_index}"

    def submissions(self) -> tuple[AuditSubmission, ...]:
        """Return its three submissions."""
        return tuple(
            AuditSubmission(
                f"{self.triplet_id}/{kind}",
                self.model,
                self.benchmark,
                self.problem_uid,
                kind,
                getattr(self, kind),
                self.triplet_id,
            )
            for kind in ("proposed", "full", "removal")
        )


def saved_triplets(records: Records, scan: ModelScan) -> Iterator[Triplet]:
    """Yield the triplets of one family's labelled removals that have all three answers.

    A removal is labelled when it counts in the headline matrices: K = 2…5, an eligible
    message of a complete problem.
    """
    answers = _scan_answers(records, scan.model)
    for problem, size, message in np.argwhere(scan.loo_cell >= 0).tolist():
        uid, k, index = str(scan.problem_uids[problem]), LOO_SIZES[size], message + 1
        proposed = scan.proposed_answer[problem, message]
        full = answers.get(("full", uid, k, 0))
        removal = answers.get(("removal", uid, k, index))
        if proposed and full and removal:
            yield Triplet(
                model=scan.model,
                benchmark=scan.benchmark_keys[scan.benchmark[problem]],
                problem_uid=uid,
                k=k,
                message_index=index,
                cell=SIX_CELLS[scan.loo_cell[problem, size, message]],
                proposed=str(proposed),
                full=full,
                removal=removal,
            )


def _scan_answers(records: Records, model: str) -> dict[tuple[str, str, int, int], str]:
    """Return the answers of a family by (condition, problem, k, message)."""
    outcomes = records.outcomes
    is_mine = (outcomes["study"] == "scan") & (outcomes["model"] == model)
    rows = outcomes[is_mine & (outcomes["answer"].fillna("") != "")]
    cells = zip(
        rows["condition"].astype(str),
        rows["problem_uid"].astype(str),
        rows["k"].astype(int),
        rows["message_index"].astype(int),
        strict=True,
    )
    return dict(zip(cells, rows["answer"], strict=True))
