"""Assumptions measured on a study that has run, e.g. a few problems on the real model."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from dhd.config.load import Study
from dhd.errors import RecordsError
from dhd.layout import StudyPaths
from dhd.planning.assumptions import Assumptions
from dhd.prompts import PromptSet
from dhd.records import Records, load_records
from dhd.simulation.settings import LengthSettings
from dhd.stages.interim import read_interim
from dhd.stages.prepare import read_problems
from dhd.studies.masking import REASONING_FIELDS


def measured_assumptions(study: Study, pilot: str, given: Assumptions) -> Assumptions:
    """Return assumptions with what a finished study shows put in place.

    Measured are mean output tokens of hypothesizers, integrators and evaluators, the length of
    a message's texts, the accuracy, the share of cached prompt tokens, and the characters of a
    prompt token, on the independent solver's prompts. Recruiter lengths and throughputs are
    not in the records and stay as given.

    Parameters
    ----------
    study
        The study that is planned; its prompts count as those of the pilot.
    pilot
        Name of the finished study, in ``results``.
    given
        Assumptions that are kept where nothing is measured.

    Raises
    ------
    RecordsError
        When the pilot has no records, or none that came from a model.
    """
    paths = StudyPaths.of(pilot)
    folder = paths.records()
    records = load_records(folder if folder.is_dir() else folder / "scan")
    messages, outcomes = _calls(records.messages), _calls(records.outcomes)
    if messages.empty or outcomes.empty:
        raise RecordsError(f"{folder}: holds no model calls to measure; run the pilot first")
    judged = _judged(paths.folder)
    lengths = {
        "hypothesizer": _mean(messages["completion_tokens"]),
        "integrator": _mean(outcomes["completion_tokens"]),
        "text_chars": _text_chars(records.messages),
    }
    if not judged.empty:
        lengths["evaluator"] = _mean(judged["completion_tokens"])
    calls = pd.concat([messages, outcomes])
    return given.model_copy(
        update={
            "lengths": LengthSettings.model_validate({**given.lengths.model_dump(), **lengths}),
            "accuracy": float(records.outcomes["correct"].mean()),
            "cached": float(calls["cached_tokens"].sum() / calls["prompt_tokens"].sum()),
            "characters_per_token": _characters_per_token(study, paths, records),
        }
    )


def _calls(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each model call that was answered."""
    if "request_key" not in rows:
        return rows.iloc[:0]
    answered = rows[rows["request_key"].notna() & (rows["prompt_tokens"] > 0)]
    return answered.drop_duplicates("request_key")


def _mean(tokens: pd.Series) -> int:
    return max(1, round(float(tokens.mean())))


def _judged(folder: Path) -> pd.DataFrame:
    """Return the evaluator's calls in all bundles."""
    paths = sorted(folder.glob("bundles/**/*.judgements.parquet"))
    tables = [_calls(read_interim("judgements", path).to_pandas()) for path in paths]
    return pd.concat(tables) if tables else pd.DataFrame()


def _text_chars(messages: pd.DataFrame) -> int:
    texts = pd.concat([messages[name].dropna() for name in REASONING_FIELDS])
    return round(float(texts.str.len().mean()))


def _characters_per_token(study: Study, paths: StudyPaths, records: Records) -> float:
    """Return the characters of a token, on the prompts of the independent solver."""
    prompts = PromptSet(study.settings.prompts, study.root)
    alone = _calls(records.outcomes[records.outcomes["condition"] == "independent"])
    tokens = alone.groupby("problem_uid", observed=True)["prompt_tokens"].first()
    characters = total = 0
    for path in sorted((paths.folder / "problems").glob("*.parquet")):
        for problem in read_problems(path):
            if problem.problem_uid in tokens.index:
                turns = prompts.integrator(problem, ())
                characters += sum(len(turn.content) for turn in turns)
                total += int(tokens[problem.problem_uid])
    if not total:
        raise RecordsError(f"{paths.folder}: its problems and outcomes do not belong together")
    return characters / total
