"""Records of repeated studies from arrays, for tests of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dhd.analysis.repeated.blocks import FULL_SLOTS, MISSING, ReplayBlocks
from dhd.messages import POOL_SIZE
from dhd.records import Records

#: Outcomes of one masking case: condition → blocks × calls.
Case = Mapping[str, Sequence[Sequence[int]]]


def replay_records(
    studies: Mapping[str, Sequence[ReplayBlocks]],
    masking: Mapping[tuple[str, str, int], Case] | None = None,
) -> Records:
    """Return records that hold the given studies.

    Parameters
    ----------
    studies
        Study name to its runs; pools are those of the model's first run.
    masking
        (model, problem_uid, message_index) to the case's outcomes.
    """
    runs = [(study, blocks) for study, found in studies.items() for blocks in found]
    benchmark = {
        uid: name
        for _, blocks in runs
        for uid, name in zip(blocks.problem_uids, blocks.benchmarks, strict=True)
    }
    uids = sorted(benchmark)
    outcomes = [row for study, blocks in runs for row in _outcome_rows(study, blocks)]
    for key, case in (masking or {}).items():
        outcomes += _case_rows(*key, case)
    problems = pd.DataFrame({"problem_uid": uids, "benchmark": [benchmark[u] for u in uids]})
    return Records(
        problems=_typed(problems, uids),
        messages=_typed(pd.DataFrame(_message_rows([blocks for _, blocks in runs])), uids),
        outcomes=_typed(pd.DataFrame(outcomes), uids),
    )


def _message_rows(runs: Sequence[ReplayBlocks]) -> list[dict[str, Any]]:
    pools = {
        (blocks.model, uid, message + 1): int(proposals[message])
        for blocks in reversed(runs)
        for uid, proposals in zip(blocks.problem_uids, blocks.proposals, strict=True)
        for message in range(POOL_SIZE)
    }
    return [
        {"model": m, "problem_uid": u, "message_index": i, "proposal_correct": value}
        for (m, u, i), value in pools.items()
    ]


def _outcome_rows(study: str, blocks: ReplayBlocks) -> list[dict[str, Any]]:
    rows = []
    for (problem, block, slot), value in np.ndenumerate(blocks.outcomes):
        full = slot < FULL_SLOTS
        call = (study, blocks.model, blocks.integrator, blocks.problem_uids[problem])
        place = (block + 1, slot + 1 if full else 1, int(value))
        target = 0 if full else slot - FULL_SLOTS + 1
        rows.append(_row(call, "full" if full else "removal", target, place))
    return rows


def _case_rows(model: str, uid: str, message: int, case: Case) -> list[dict[str, Any]]:
    call = ("masking", model, model, uid)
    return [
        _row(call, condition, message, (block, repeat, value))
        for condition, blocks in case.items()
        for block, calls in enumerate(blocks, start=1)
        for repeat, value in enumerate(calls, start=1)
    ]


def _row(
    call: tuple[str, str, str, str], condition: str, target: int, place: tuple[int, int, int]
) -> dict[str, Any]:
    names = ("study", "model", "integrator", "problem_uid")
    block, repeat, correct = place
    return {
        **dict(zip(names, call, strict=True)),
        "condition": condition,
        "k": POOL_SIZE,
        "message_index": target,
        "block": block,
        "repeat": repeat,
        "correct": correct,
        "status": "failed" if correct == MISSING else "ok",
    }


def _typed(frame: pd.DataFrame, uids: list[str]) -> pd.DataFrame:
    """Give a frame the types that ``load_records`` gives."""
    frame["problem_uid"] = pd.Categorical(
        frame["problem_uid"], categories=pd.Index(uids, dtype="str")
    )
    for name in ("study", "model", "integrator", "condition", "status", "benchmark"):
        if name in frame:
            frame[name] = frame[name].astype("str").astype("category")
    for name in ("correct", "proposal_correct"):
        if name in frame:
            values = frame[name].to_numpy(np.int8)
            frame[name] = pd.arrays.IntegerArray(values, values < 0)
    return frame
