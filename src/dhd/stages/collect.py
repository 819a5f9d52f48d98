"""Bundles → the five tables of the records folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from dhd.answers import normalise_answer
from dhd.config.load import Study
from dhd.errors import EngineError
from dhd.layout import StudyPaths
from dhd.records import TABLES, load_records, read_table, write_table
from dhd.stages.interim import read_interim
from dhd.stages.judge import cell_of


def collect_records(study: Study, bundles: Sequence[Path], judgements: Sequence[Path]) -> None:
    """Join what all bundles produced into the records folder, checked as a whole.

    Raises
    ------
    RecordsError
        When a bundle's file is damaged or the tables break their contract.
    EngineError
        When one model answered for two that the config declares.
    """
    verdicts = _Verdicts(study, judgements)
    messages = _rows("messages", bundles)
    outcomes = _rows("outcomes", bundles)
    for row in messages:
        verdicts.complete_message(row)
    for row in outcomes:
        verdicts.complete_outcome(row)
    _check_identities(study, [*messages, *outcomes], verdicts.evaluators)
    folder = StudyPaths.of(study.settings.study).records()
    write_table("problems", _problems(study), folder / "problems.parquet")
    write_table("messages", messages, folder / "messages.parquet")
    write_table("outcomes", outcomes, folder / "outcomes.parquet")
    for name in ("evaluations", "protocol_runs"):
        empty = {column.name: [] for column in TABLES[name].columns}
        write_table(name, pd.DataFrame(empty), folder / f"{name}.parquet")
    load_records(folder)


def _problems(study: Study) -> pd.DataFrame:
    paths = StudyPaths.of(study.settings.study)
    frames = [read_table("problems", paths.problems(name)) for name in study.settings.benchmarks]
    return pd.concat(frames, ignore_index=True)


def _rows(kind: str, bundles: Iterable[Path]) -> list[dict[str, Any]]:
    suffix = f".{kind}.parquet"
    tables = [read_interim(kind, path) for path in bundles if path.name.endswith(suffix)]
    rows: list[dict[str, Any]] = pa.concat_tables(tables).to_pylist()
    return rows


class _Verdicts:
    """Judgements by submission, and how they complete messages and outcomes."""

    def __init__(self, study: Study, paths: Iterable[Path]) -> None:
        self._is_shared = study.settings.judging.share_identical_submissions
        self.evaluators: set[str] = set()
        self._by_submission: dict[tuple[str, str, str], Mapping[str, Any]] = {}
        for path in paths:
            for row in read_interim("judgements", path).to_pylist():
                self._by_submission[row["problem_uid"], row["answer"], row["cell"]] = row
                self.evaluators.add(row["judged_by"])

    def complete_message(self, row: dict[str, Any]) -> None:
        """Add ``proposal_correct``: 0 without an answer, null when its evaluation failed."""
        row["proposal_correct"], row["judged_by"] = 0, None
        if row["proposed_answer_extracted"] is not None:
            judged = self._find(row, row["proposed_answer_extracted"])
            row["proposal_correct"], row["judged_by"] = judged["correct"], judged["judged_by"]

    def complete_outcome(self, row: dict[str, Any]) -> None:
        """Add ``correct``: 0 without an answer, null when the call or its evaluation failed."""
        row["correct"], row["judged_by"] = (None if row["status"] == "failed" else 0), None
        if row["answer"] is not None:
            judged = self._find(row, row["answer"])
            row["correct"], row["judged_by"] = judged["correct"], judged["judged_by"]
            if judged["correct"] is None:
                row["status"], row["reason"] = "unjudged", judged["reason"]

    def _find(self, row: Mapping[str, Any], answer: str) -> Mapping[str, Any]:
        cell = "" if self._is_shared else cell_of(row)
        return self._by_submission[row["problem_uid"], normalise_answer(answer), cell]


def _check_identities(
    study: Study, rows: Iterable[Mapping[str, Any]], evaluators: set[str]
) -> None:
    """Raise when the models that answered are fewer than the config declares."""
    answered: dict[str, set[str]] = {}
    for row in rows:
        if row["answered_by"]:
            answered.setdefault(row["model"], set()).add(row["answered_by"])
    shared = set(study.settings.judging.shared_with)
    names = sorted(answered)
    for index, family in enumerate(names):
        for other in names[index + 1 :]:
            _refuse_overlap(f"families {family!r} and {other!r}", answered[family], answered[other])
        if family not in shared:
            _refuse_overlap(
                f"family {family!r} and the evaluator", answered[family], evaluators - {"rules"}
            )


def _refuse_overlap(who: str, one: set[str], other: set[str]) -> None:
    same = sorted(one & other)
    if same:
        raise EngineError(
            f"{who} were answered by one model, {same[0]!r}, though the config declares two; "
            "check the endpoints' model names, or declare it in judging.shared_with"
        )
