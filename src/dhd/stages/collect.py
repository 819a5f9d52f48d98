"""Bundles → the five tables of the records folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa

from dhd.answers import normalise_answer
from dhd.config.load import Study
from dhd.errors import EngineError, RecordsError
from dhd.layout import StudyPaths
from dhd.records import TABLES, load_records, read_table, write_table
from dhd.stages.interim import read_interim
from dhd.stages.judge import cells_of

_NULLABLE = {
    pa.int8(): pd.Int8Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}
_SUBMISSION = ["problem_uid", "answer", "cell"]


def collect_records(
    study: Study, bundles: Sequence[Path], judgements: Sequence[Path], folder: Path
) -> None:
    """Join what bundles produced into a records folder, checked as a whole.

    Parameters
    ----------
    bundles, judgements
        Interim tables of the scan, and of the studies that belong to these records.
    folder
        Where the five tables go.

    Raises
    ------
    RecordsError
        When a bundle's file is damaged, a submission was not judged, or the tables break
        their contract.
    EngineError
        When one model answered for two that the config declares.
    """
    # A submission that several parts judged has one verdict: that of the first, the scan.
    verdicts = _frame("judgements", judgements).drop_duplicates(_SUBMISSION)
    is_shared = study.settings.judging.share_identical_submissions
    messages = _judged_messages(_frame("messages", bundles), verdicts, is_shared=is_shared)
    outcomes = _judged_outcomes(_frame("outcomes", bundles), verdicts, is_shared=is_shared)
    answered = pd.concat([messages.assign(integrator=messages["model"]), outcomes])
    _check_identities(study, answered, set(verdicts["judged_by"]))
    write_table("problems", _problems(study), folder / "problems.parquet")
    write_table("messages", messages, folder / "messages.parquet")
    write_table("outcomes", outcomes, folder / "outcomes.parquet")
    for name in ("evaluations", "protocol_runs"):
        columns = [column.name for column in TABLES[name].columns]
        write_table(name, pd.DataFrame(columns=columns, dtype=object), folder / f"{name}.parquet")
    load_records(folder)


def _problems(study: Study) -> pd.DataFrame:
    paths = StudyPaths.of(study.settings.study)
    frames = [read_table("problems", paths.problems(name)) for name in study.settings.benchmarks]
    return pd.concat(frames, ignore_index=True)


def _frame(kind: str, paths: Iterable[Path]) -> pd.DataFrame:
    tables = [read_interim(kind, path) for path in paths if path.name.endswith(f".{kind}.parquet")]
    return pa.concat_tables(tables).to_pandas(types_mapper=_NULLABLE.get)


def _judged_messages(
    messages: pd.DataFrame, verdicts: pd.DataFrame, *, is_shared: bool
) -> pd.DataFrame:
    """Add ``proposal_correct``: 0 without an answer, null when its evaluation failed."""
    answers = messages["proposed_answer_extracted"]
    judged = _verdicts_on(messages, answers, verdicts, is_shared=is_shared)
    return messages.assign(
        proposal_correct=judged["correct"].mask(answers.isna(), 0), judged_by=judged["judged_by"]
    )


def _judged_outcomes(
    outcomes: pd.DataFrame, verdicts: pd.DataFrame, *, is_shared: bool
) -> pd.DataFrame:
    """Add ``correct``: 0 without an answer, null when the call or its evaluation failed."""
    answers, status = outcomes["answer"], outcomes["status"]
    judged = _verdicts_on(outcomes, answers, verdicts, is_shared=is_shared)
    is_unjudged = answers.notna() & judged["correct"].isna()
    is_answerless = answers.isna() & (status != "failed")
    return outcomes.assign(
        correct=judged["correct"].mask(is_answerless, 0),
        judged_by=judged["judged_by"],
        status=status.mask(is_unjudged, "unjudged"),
        reason=outcomes["reason"].mask(is_unjudged, judged["reason"]),
    )


def _verdicts_on(
    rows: pd.DataFrame, answers: pd.Series, verdicts: pd.DataFrame, *, is_shared: bool
) -> pd.DataFrame:
    """Return the judgement of every row's answer; all null where there is no answer."""
    normalised = {answer: normalise_answer(answer) for answer in answers.dropna().unique()}
    cells = "" if is_shared else cells_of(rows)
    key = pd.DataFrame(
        {"problem_uid": rows["problem_uid"], "answer": answers.map(normalised), "cell": cells}
    )
    known = verdicts[[*_SUBMISSION, "correct", "judged_by", "reason"]]
    judged = key.merge(known, on=_SUBMISSION, how="left", validate="m:1")
    missing = answers.notna().to_numpy() & judged["judged_by"].isna().to_numpy()
    if missing.any():
        first = key[missing].iloc[0].to_dict()
        raise RecordsError(
            f"judgements: {missing.sum()} submission(s) have none, e.g. {first}; delete the "
            "study's bundles/judging folder and run again"
        )
    return judged


def _check_identities(study: Study, rows: pd.DataFrame, judges: set[str]) -> None:
    """Raise when the models that answered are fewer than the config declares."""
    asked = rows.dropna(subset="answered_by")
    answered = {
        family: set(group)
        for family, group in asked.groupby("integrator")["answered_by"]
        if len(group)
    }
    shared = set(study.settings.judging.shared_with)
    for family, models in answered.items():
        for other, others in answered.items():
            if family < other:
                _refuse_overlap(f"families {family!r} and {other!r}", models, others)
        if family not in shared:
            _refuse_overlap(f"family {family!r} and the evaluator", models, judges - {"rules"})


def _refuse_overlap(who: str, one: set[str], other: set[str]) -> None:
    same = sorted(one & other)
    if same:
        raise EngineError(
            f"{who} were answered by one model, {same[0]!r}, though the config declares two; "
            "check the endpoints' model names, or declare it in judging.shared_with"
        )
