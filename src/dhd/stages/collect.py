"""Bundles → the five tables of the records folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path

import pandas as pd
import pyarrow as pa

from dhd.answers import normalise_answer
from dhd.config.load import Study
from dhd.errors import EngineError, RecordsError
from dhd.layout import StudyPaths
from dhd.records import TABLES, load_records, read_table, write_table
from dhd.records.failures import failure_lines
from dhd.stages.interim import interim_table, read_interim
from dhd.stages.judge import cells_of

_NULLABLE = {
    pa.int8(): pd.Int8Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}
_SUBMISSION = ["problem_uid", "answer", "cell"]
#: Columns of the tables that are finished before, beside the declared ones, that are needed.
_IDENTITIES = dict.fromkeys(("protocol_runs", "evaluations"), ("answered_by", "judged_by"))


def collect_records(
    study: Study, bundles: Sequence[Path], judgements: Sequence[Path], folder: Path
) -> list[str]:
    """Join what bundles produced into a records folder, checked as a whole.

    Returns which messages and outcomes are lacking and why, for the log.

    Parameters
    ----------
    bundles, judgements
        Interim tables of the scan, and of the studies that belong to these records; none of
        the scan's where a study stands alone.
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
    runs, evaluations = (_finished(name, bundles) for name in ("protocol_runs", "evaluations"))
    by_family = [
        frame.assign(family=frame[family])[["family", "answered_by"]]
        for frame, family in ((messages, "model"), (outcomes, "integrator"), (runs, "model"))
    ]
    judges = {*verdicts["judged_by"], *runs["judged_by"].dropna()}
    _check_identities(study, pd.concat(by_family), judges)
    _check_auditors(evaluations)
    write_table("problems", _problems(study), folder / "problems.parquet")
    write_table("messages", messages, folder / "messages.parquet")
    write_table("outcomes", outcomes, folder / "outcomes.parquet")
    write_table("evaluations", evaluations, folder / "evaluations.parquet")
    write_table("protocol_runs", runs, folder / "protocol_runs.parquet")
    records = load_records(folder)
    return failure_lines(records.messages, records.outcomes)


def _finished(name: str, paths: Iterable[Path]) -> pd.DataFrame:
    """Return the rows of a table that its own stage completes: evaluations, protocol runs."""
    found = [path for path in paths if path.name.endswith(f".{name}.parquet")]
    if not found:
        columns = [*(column.name for column in TABLES[name].columns), *_IDENTITIES[name]]
        return pd.DataFrame(columns=columns, dtype=object)
    frames = [read_table(name, path).astype(object) for path in found]
    return pd.concat(frames, ignore_index=True)


def _problems(study: Study) -> pd.DataFrame:
    paths = StudyPaths.of(study.settings.study)
    frames = [read_table("problems", paths.problems(name)) for name in study.settings.benchmarks]
    return pd.concat(frames, ignore_index=True)


def _frame(kind: str, paths: Iterable[Path]) -> pd.DataFrame:
    found = [path for path in paths if path.name.endswith(f".{kind}.parquet")]
    tables = [interim_table(kind, ()), *(read_interim(kind, path) for path in found)]
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
    # Mapped by nothing, answers of which none is there would turn from text into numbers.
    shown = answers.map(normalised).astype(answers.dtype)
    cells = "" if is_shared else cells_of(rows)
    key = pd.DataFrame({"problem_uid": rows["problem_uid"], "answer": shown, "cell": cells})
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
    answered = _identities(rows, "family")
    shared = set(study.settings.judging.shared_with)
    for (one, models), (other, others) in combinations(answered.items(), 2):
        _refuse_overlap(f"families {one!r} and {other!r}", models, others)
    for family, models in answered.items():
        if family not in shared:
            _refuse_overlap(f"family {family!r} and the evaluator", models, judges - {"rules"})


def _check_auditors(evaluations: pd.DataFrame) -> None:
    """Raise when the models that judged in the audit are fewer than the config declares."""
    answered = _identities(evaluations, "evaluator")
    for (one, models), (other, others) in combinations(answered.items(), 2):
        _refuse_overlap(f"evaluators {one!r} and {other!r}", models, others)


def _identities(rows: pd.DataFrame, by: str) -> dict[str, set[str]]:
    """Return the identities that answered, by family or evaluator."""
    asked = rows.dropna(subset="answered_by")
    return {name: set(group) for name, group in asked.groupby(by)["answered_by"] if len(group)}


def _refuse_overlap(who: str, one: set[str], other: set[str]) -> None:
    same = sorted(one & other)
    if same:
        raise EngineError(
            f"{who} were answered by one model, {same[0]!r}, though the config declares two; "
            "check the endpoints' model names, or declare it in judging.shared_with"
        )
