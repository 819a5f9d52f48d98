"""From records to :class:`~dhd.analysis.repeated.blocks.ReplayBlocks`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from dhd.analysis.context import Absent, AnalysisContext
from dhd.analysis.repeated.blocks import (
    FULL_SLOTS,
    MISSING,
    SLOTS,
    Int8Array,
    IntArray,
    ReplayBlocks,
)
from dhd.messages import POOL_SIZE

#: Study of the controlled repeated replay.
REPEATS = "repeats"


def replay_studies(
    context: AnalysisContext, study: str = REPEATS
) -> Mapping[tuple[str, str], ReplayBlocks]:
    """Return the blocks of a study by (model, integrator), in table order.

    Parameters
    ----------
    context
        Records and settings.
    study
        ``repeats``, ``order`` or ``integrator_swap``.

    Raises
    ------
    Absent
        When the records have no rows of the study.
    """
    return context.cached(f"replay_studies/{study}", lambda: _build_studies(context, study))


def repeats_of(context: AnalysisContext) -> Mapping[str, ReplayBlocks]:
    """Return the controlled repeats of every model that has some, in table order."""
    return {model: blocks for (model, _), blocks in replay_studies(context, REPEATS).items()}


def study_rows(context: AnalysisContext, study: str) -> pd.DataFrame:
    """Return the outcomes of one study; raise :class:`Absent` when there are none."""
    outcomes = context.records.outcomes
    rows = outcomes.iloc[np.flatnonzero((outcomes["study"] == study).to_numpy())]
    if rows.empty:
        raise Absent(f"outcomes.parquet has no rows of study {study!r}")
    return rows


def _build_studies(context: AnalysisContext, study: str) -> Mapping[tuple[str, str], ReplayBlocks]:
    rows = study_rows(context, study)
    found = {
        (str(model), str(integrator)): part
        for (model, integrator), part in rows.groupby(["model", "integrator"], observed=True)
    }
    models = context.order_models(model for model, _ in found)
    integrators = context.order_models(integrator for _, integrator in found)
    return {
        (model, integrator): _blocks(context, found[model, integrator], model, integrator)
        for model in models
        for integrator in integrators
        if (model, integrator) in found
    }


def message_judgements(
    messages: pd.DataFrame, model: str, problems: npt.NDArray[np.int64]
) -> Int8Array:
    """Return ``proposal_correct`` of a model's pools: problems × messages.

    Parameters
    ----------
    messages
        The messages table.
    model
        Key of the generating model.
    problems
        Rows of ``problems.parquet``, ascending.
    """
    mine = messages.iloc[np.flatnonzero((messages["model"] == model).to_numpy())]
    codes = mine["problem_uid"].cat.codes.to_numpy(np.int64)
    asked = np.isin(codes, problems)
    result = np.full((len(problems), POOL_SIZE), MISSING, dtype=np.int8)
    row = np.searchsorted(problems, codes[asked])
    column = mine["message_index"].to_numpy(np.int64)[asked] - 1
    result[row, column] = judgements(mine["proposal_correct"])[asked]
    return result


def judgements(values: pd.Series) -> Int8Array:
    """Return a judgement column as 1, 0, or :data:`MISSING`."""
    return np.asarray(values.fillna(MISSING), dtype=np.int8)


def _blocks(
    context: AnalysisContext, rows: pd.DataFrame, model: str, integrator: str
) -> ReplayBlocks:
    problems, problem = np.unique(
        rows["problem_uid"].cat.codes.to_numpy(np.int64), return_inverse=True
    )
    numbers, block = np.unique(rows["block"].to_numpy(np.int64), return_inverse=True)
    slot = _slots(rows)
    shape = (len(problems), len(numbers), SLOTS)
    outcomes = np.full(shape, MISSING, dtype=np.int8)
    outcomes[problem, block, slot] = judgements(rows["correct"])
    evaluable = np.zeros(shape, dtype=np.bool_)
    evaluable[problem, block, slot] = (rows["status"] == "ok").to_numpy()
    table = context.records.problems.iloc[problems]
    return ReplayBlocks(
        model=model,
        integrator=integrator,
        problem_uids=table["problem_uid"].astype(str).to_numpy(dtype=object),
        benchmarks=table["benchmark"].astype(str).to_numpy(dtype=object),
        outcomes=outcomes,
        proposals=message_judgements(context.records.messages, model, problems),
        strict=np.asarray(evaluable.all(axis=(1, 2))),
    )


def _slots(rows: pd.DataFrame) -> IntArray:
    """Return the position of every call in :data:`~dhd.analysis.repeated.blocks.SLOTS`."""
    full = (rows["condition"] == "full").to_numpy()
    repeat = rows["repeat"].to_numpy(np.int64)
    message = rows["message_index"].to_numpy(np.int64)
    return np.where(full, repeat - 1, FULL_SLOTS + message - 1)
