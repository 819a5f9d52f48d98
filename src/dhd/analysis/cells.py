"""The complete matrix of a model as dense arrays, and the six cells of message effects.

Judgements are ``int8``: 1, 0, and -1 for *not observed*. Problems are rows, in the order of
``problems.parquet``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dhd.analysis.samples import LooSample, loo_sample
from dhd.analysis.settings import AnalysisSettings
from dhd.messages import FIELD_NAMES, POOL_SIZE
from dhd.records import Records
from dhd.records.schemas import LOO_SIZES

Judgements = npt.NDArray[np.int8]
Counts = npt.NDArray[np.int64]
Texts = npt.NDArray[np.object_]

MISSING: Final = -1
#: The six cells in the order of their columns everywhere: proposal correctness × effect.
SIX_CELLS: Final = (
    "wrong_helpful",
    "wrong_neutral",
    "wrong_harmful",
    "correct_helpful",
    "correct_neutral",
    "correct_harmful",
)
SIX_COUNTS: Final = tuple(f"{cell}_n" for cell in SIX_CELLS)
#: The pool sizes of in-pool leave-one-out, as the tables write them.
LOO_RANGE: Final = f"{LOO_SIZES[0]}-{LOO_SIZES[-1]}"

_INDEPENDENT: Final = 0
_SINGLE: Final = 1
_FULL: Final = _SINGLE + POOL_SIZE
_REMOVAL: Final = _FULL + POOL_SIZE
_CELLS: Final = _REMOVAL + len(LOO_SIZES) * POOL_SIZE


@dataclass(frozen=True)
class ModelScan:
    """Everything that the scan of one model recorded; n problems.

    Attributes
    ----------
    model
        Key of the model.
    problem_index
        Row of each problem in ``problems.parquet``, ascending.
    problem_uids
        Identifier of each problem.
    benchmark
        Code of each problem's benchmark, an index into ``benchmark_keys``.
    benchmark_keys
        The benchmarks that occur.
    independent
        Independent solver; n.
    single
        Integrator with message i alone; n × 5.
    full
        Integrator with the prefix of size K = 1…5; n × 5.
    removal
        Integrator with the prefix of size K = 2…5 without message i; n × 4 × 5, missing for
        i > K.
    full_answer
        Answer of the integrator at K = 5, None where there is none; n.
    proposal_correct
        Judgement of each message's proposed answer; n × 5.
    eligible
        Whether each message is eligible; n × 5.
    proposed_answer, confidence
        Extracted answer and self-report of each message, None where absent; n × 5.
    fields_complete
        Whether each message has all six structured fields; n × 5.
    sample
        Which problems the leave-one-out analysis counts.
    """

    model: str
    problem_index: npt.NDArray[np.int64]
    problem_uids: Texts
    benchmark: npt.NDArray[np.int64]
    benchmark_keys: tuple[str, ...]
    independent: Judgements
    single: Judgements
    full: Judgements
    removal: Judgements
    full_answer: Texts
    proposal_correct: Judgements
    eligible: npt.NDArray[np.bool_]
    proposed_answer: Texts
    confidence: Texts
    fields_complete: npt.NDArray[np.bool_]
    sample: LooSample

    def __len__(self) -> int:
        return len(self.problem_index)

    def in_benchmark(self, key: str) -> npt.NDArray[np.bool_]:
        """Mark the problems of a benchmark; n."""
        return np.asarray(self.benchmark == self.benchmark_keys.index(key), dtype=np.bool_)

    @cached_property
    def single_cell(self) -> npt.NDArray[np.int8]:
        """Six-cell code of each single-message effect, -1 outside the headline sample; n × 5."""
        counted = self.sample.complete[:, None] & self.eligible
        without = np.broadcast_to(self.independent[:, None], self.single.shape)
        return cell_codes(self.proposal_correct, self.single, without, counted)

    @cached_property
    def loo_cell(self) -> npt.NDArray[np.int8]:
        """Six-cell code of each LOO effect, -1 outside the headline sample; n × 4 × 5."""
        counted = (self.sample.complete[:, None] & self.eligible)[:, None, :] & LOO_PAIRS
        proposals = np.broadcast_to(self.proposal_correct[:, None, :], self.removal.shape)
        with_message = np.broadcast_to(self.full[:, 1:, None], self.removal.shape)
        return cell_codes(proposals, with_message, self.removal, counted)

    @cached_property
    def single_counts(self) -> Counts:
        """Six-cell counts of single-message effects of every problem; n × 6."""
        return count_cells(self.single_cell)

    @cached_property
    def loo_counts_by_k(self) -> Counts:
        """Six-cell counts of LOO effects of every problem at K = 2…5; n × 4 × 6."""
        return count_cells(self.loo_cell)

    @cached_property
    def loo_counts(self) -> Counts:
        """Six-cell counts of LOO effects of every problem over K = 2…5; n × 6."""
        counts: Counts = self.loo_counts_by_k.sum(axis=1)
        return counts


#: Which (K, i) are pairs of in-pool leave-one-out: i ≤ K; 4 × 5.
LOO_PAIRS: Final[npt.NDArray[np.bool_]] = (
    np.arange(1, POOL_SIZE + 1)[None, :] <= np.asarray(LOO_SIZES)[:, None]
)


def cell_codes(
    proposal_correct: Judgements,
    with_message: Judgements,
    without_message: Judgements,
    counted: npt.NDArray[np.bool_],
) -> npt.NDArray[np.int8]:
    """Return which of :data:`SIX_CELLS` each message falls in; all arrays of one shape.

    The effect is ``with_message`` minus ``without_message``: +1 helpful, 0 neutral, -1 harmful.
    The code is -1 where a judgement is missing or ``counted`` is false.
    """
    known = counted & (proposal_correct >= 0) & (with_message >= 0) & (without_message >= 0)
    codes = 3 * proposal_correct + 1 - (with_message - without_message)
    return np.where(known, codes, MISSING).astype(np.int8)


def count_cells(codes: npt.NDArray[np.int8]) -> Counts:
    """Count the six cells over the last axis: shape (…, messages) becomes (…, 6)."""
    counts = [(codes == cell).sum(axis=-1) for cell in range(len(SIX_CELLS))]
    return np.stack(counts, axis=-1)


def build_scans(records: Records, settings: AnalysisSettings) -> dict[str, ModelScan]:
    """Return the dense scan of every model that has rows of study ``scan``."""
    outcomes = records.outcomes
    rows = np.flatnonzero((outcomes["study"] == "scan").to_numpy())
    if rows.size == 0:
        return {}
    columns = ["model", "problem_uid", "condition", "k", "message_index", "correct", "answer"]
    scan = outcomes[columns].iloc[rows]
    models = [str(key) for key in scan["model"].cat.remove_unused_categories().cat.categories]
    return {
        model: _build_scan(
            model,
            scan[(scan["model"] == model).to_numpy()],
            records.messages[(records.messages["model"] == model).to_numpy()],
            records.problems,
            complete_pool=settings.require_complete_pool.get(model, False),
        )
        for model in models
    }


def _build_scan(
    model: str,
    outcomes: pd.DataFrame,
    messages: pd.DataFrame,
    problems: pd.DataFrame,
    *,
    complete_pool: bool,
) -> ModelScan:
    codes = outcomes["problem_uid"].cat.codes.to_numpy(np.int64)
    problem_index, row = np.unique(codes, return_inverse=True)
    cells = np.full((len(problem_index), _CELLS), MISSING, dtype=np.int8)
    cells[row, cell_of(outcomes)] = _judgements(outcomes["correct"])
    full = cells[:, _FULL:_REMOVAL]
    removal = cells[:, _REMOVAL:].reshape(-1, len(LOO_SIZES), POOL_SIZE)
    last = (cell_of(outcomes) == _REMOVAL - 1).nonzero()[0]
    full_answer = np.full(len(problem_index), None, dtype=object)
    full_answer[row[last]] = _texts(outcomes["answer"].iloc[last])
    pool = _message_arrays(messages, problem_index)
    benchmark = problems["benchmark"].iloc[problem_index].cat.remove_unused_categories()
    return ModelScan(
        model=model,
        problem_index=problem_index,
        problem_uids=_texts(problems["problem_uid"].iloc[problem_index]),
        benchmark=benchmark.cat.codes.to_numpy(np.int64),
        benchmark_keys=tuple(str(key) for key in benchmark.cat.categories),
        independent=cells[:, _INDEPENDENT],
        single=cells[:, _SINGLE:_FULL],
        full=full,
        removal=removal,
        full_answer=full_answer,
        sample=loo_sample(pool["eligible"], full, removal, complete_pool=complete_pool),
        **pool,
    )


def cell_of(outcomes: pd.DataFrame) -> npt.NDArray[np.int64]:
    """Return the column of each outcome among the cells of a problem.

    The columns are those of ``independent``, ``single``, ``full`` and ``removal`` of a
    :class:`ModelScan`, flattened, one after the other.
    """
    k = outcomes["k"].to_numpy(np.int64)
    index = outcomes["message_index"].to_numpy(np.int64)
    condition = outcomes["condition"]
    cell = np.full(len(outcomes), _INDEPENDENT, dtype=np.int64)
    for name, values in (
        ("single", _SINGLE + index - 1),
        ("full", _FULL + k - 1),
        ("removal", _REMOVAL + (k - LOO_SIZES[0]) * POOL_SIZE + index - 1),
    ):
        chosen = (condition == name).to_numpy(np.bool_)
        cell[chosen] = values[chosen]
    return cell


def _message_arrays(
    messages: pd.DataFrame, problem_index: npt.NDArray[np.int64]
) -> dict[str, npt.NDArray[Any]]:
    """Return the message columns as problems × 5 arrays, for the given problems."""
    codes = messages["problem_uid"].cat.codes.to_numpy(np.int64)
    row = np.searchsorted(problem_index, codes)
    kept = problem_index[np.minimum(row, len(problem_index) - 1)] == codes
    messages, row = messages[kept], row[kept]
    column = messages["message_index"].to_numpy(np.int64) - 1
    extracted = messages["proposed_answer_extracted"]
    judged = _judgements(messages["proposal_correct"])
    has_answer = (extracted.notna() & (extracted != "")).to_numpy(np.bool_)
    fields = messages[list(FIELD_NAMES)]
    values: Mapping[str, tuple[npt.NDArray[Any], Any]] = {
        "proposal_correct": (judged, MISSING),
        "eligible": (messages["rendered"].to_numpy() & has_answer & (judged >= 0), False),
        "proposed_answer": (_texts(extracted), None),
        "confidence": (_texts(messages["confidence"]), None),
        "fields_complete": ((fields.notna() & (fields != "")).all(axis=1).to_numpy(), False),
    }
    arrays: dict[str, npt.NDArray[Any]] = {}
    for name, (data, absent) in values.items():
        array = np.full((len(problem_index), POOL_SIZE), absent, dtype=data.dtype)
        array[row, column] = data
        arrays[name] = array
    return arrays


def _judgements(values: pd.Series) -> Judgements:
    return np.asarray(values.fillna(MISSING), dtype=np.int8)


def _texts(values: pd.Series) -> Texts:
    """Return texts as Python strings, None where missing."""
    texts = values.astype("str").to_numpy(dtype=object, na_value=None)
    return np.asarray(texts, dtype=np.object_)
