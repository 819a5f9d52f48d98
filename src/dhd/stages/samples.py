"""Which problems and messages the further studies take, written as manifests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from dhd.analysis.context import Absent, AnalysisContext
from dhd.analysis.repeated.masking import message_categories
from dhd.analysis.repeated.studies import repeats_of
from dhd.config.load import Study
from dhd.config.protocols import ProtocolsSettings
from dhd.config.studies import MaskingSettings, OrderSettings, RepeatsSettings
from dhd.messages import POOL_SIZE
from dhd.records import Records, load_records
from dhd.stages.manifests import earlier_draw, earlier_problems, read_manifest, write_manifest
from dhd.stages.prepare import read_problems
from dhd.stages.settings import replay_digest
from dhd.studies import Candidate, Case, choose_cases, message_of, sample_problems
from dhd.studies.masking import REASONING_FIELDS
from dhd.wording import number_of

_STRATIFIED_LOADERS = frozenset({"omni_math_2"})


def sample_repeats(study: Study, family: str, benchmark: str, records: Path, out: Path) -> str:
    """Draw the problems that one family repeats and write them; return a line for the log.

    Drawn are problems whose pool has five eligible messages (paper, Controlled Repeated
    Replay Robustness). Problems that ``out`` holds from an earlier draw stay: more problems in
    the benchmark only fill what lacks.

    Parameters
    ----------
    records
        Records folder of the scan.
    out
        Where the manifest goes.
    """
    settings = study.settings.studies
    wanted = cast("RepeatsSettings", settings.repeats).problems
    head = {
        "study": "repeats",
        "model": family,
        "benchmark": benchmark,
        "seed": settings.seed,
        "drawn_from": replay_digest(study, family),
    }
    earlier = earlier_problems(out, head)
    candidates = _candidates(
        load_records(records),
        family,
        benchmark,
        by_stratum=_is_stratified(study, benchmark),
        earlier=earlier,
    )
    label = f"repeats/{family}/{benchmark}"
    return _draw(out, head, candidates, wanted, label=label, earlier=earlier)


def sample_again(
    study: Study, replay: str, family: str, benchmark: str, repeats: Path, out: Path
) -> str:
    """Take the first of the repeated problems for a study that is compared with the repeats.

    The order and integrator studies of one family take the same problems (Table 22).
    """
    settings = study.settings.studies
    wanted = cast("OrderSettings", getattr(settings, replay)).problems
    problems = read_manifest(repeats)["problems"]
    return _write_sample(
        out,
        {"study": replay, "model": family, "benchmark": benchmark, "seed": settings.seed},
        wanted=wanted,
        available=len(problems),
        problems=problems[:wanted],
    )


def sample_protocols(study: Study, benchmark: str, problems: Path, out: Path) -> str:
    """Draw the problems that all families' protocols run on; return a line for the log.

    Problems of an earlier draw stay, as those of the repeats do.

    Parameters
    ----------
    problems
        The benchmark's prepared problems.
    out
        Where the manifest goes.
    """
    settings = study.settings.studies
    candidates = [Candidate(problem.problem_uid) for problem in read_problems(problems)]
    wanted = cast("ProtocolsSettings", settings.protocols).problems or len(candidates)
    head = {"study": "protocols", "benchmark": benchmark, "seed": settings.seed}
    label, earlier = f"protocols/{benchmark}", earlier_problems(out, head)
    return _draw(out, head, candidates, wanted, label=label, earlier=earlier)


def choose_masking(study: Study, family: str, records: Path, out: Path) -> str:
    """Choose the messages that are masked and write them; return lines for the log.

    Cases that ``out`` holds from an earlier choice stay, so that calls that were made on them
    keep their place in the records: more repeats or another benchmark only fill what lacks.

    Parameters
    ----------
    records
        Records folder that holds the family's controlled repeats; nothing of the masking
        study is known when the choice is made.
    """
    settings = study.settings.studies
    masking = cast("MaskingSettings", settings.masking)
    context = AnalysisContext(load_records(records), study.settings.analysis)
    known = set(context.records.problems["problem_uid"].astype(str))
    drawn_from = replay_digest(study, family)
    candidates = tuple(_maskable(context, family))
    wanted = {str(category): count for category, count in masking.cases.items()}
    draw = earlier_draw(out, {"drawn_from": drawn_from})
    rows = (*draw["cases"], *draw.get("set_aside", ())) if draw else ()
    earlier = [Case(**row) for row in rows]
    chosen = choose_cases(
        candidates,
        wanted,
        seed=settings.seed,
        label=f"masking/{family}",
        earlier=[case for case in earlier if case.problem_uid in known],
    )
    masked = {message_of(case) for case in chosen}
    available, found = (Counter(one.category for one in some) for some in (candidates, chosen))
    document = {
        "study": "masking",
        "model": family,
        "seed": settings.seed,
        "drawn_from": drawn_from,
        "wanted": wanted,
        "available": {category: available[category] for category in wanted},
        "found": {category: found[category] for category in wanted},
        "cases": [asdict(case) for case in chosen],
        "set_aside": [asdict(case) for case in earlier if message_of(case) not in masked],
    }
    write_manifest(out, document)
    lines = [
        f"shortfall: {category}: {found[category]} of {count} wanted messages exist"
        for category, count in wanted.items()
        if found[category] < count
    ]
    return "\n".join([*lines, f"{number_of(len(chosen), 'message')} of {family} to mask: {out}"])


def _is_stratified(study: Study, benchmark: str) -> bool:
    repeats = study.settings.studies.repeats
    if repeats is not None and repeats.stratified is not None:
        return benchmark in repeats.stratified
    return study.settings.benchmarks[benchmark].loader in _STRATIFIED_LOADERS


def _candidates(
    records: Records, family: str, benchmark: str, *, by_stratum: bool, earlier: Iterable[str]
) -> tuple[Candidate, ...]:
    """Return the problems of a benchmark whose five messages are all eligible.

    Those that were drawn earlier are among them, however they are judged now.
    """
    eligible = _eligible(records.messages)
    mine = records.messages[eligible & (records.messages["model"] == family).to_numpy()]
    counts = mine["problem_uid"].value_counts()
    drawable = {*counts.index[counts == POOL_SIZE].astype(str), *earlier}
    problems = records.problems[records.problems["benchmark"] == benchmark]
    strata = problems["stratum"] if by_stratum else [None] * len(problems)
    return tuple(
        Candidate(uid, None if pd.isna(stratum) else str(stratum))
        for uid, stratum in zip(problems["problem_uid"].astype(str), strata, strict=True)
        if uid in drawable
    )


def _eligible(messages: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which messages are rendered, have an answer, and were judged."""
    answered = messages["proposed_answer_extracted"].fillna("") != ""
    usable = messages["rendered"] & answered & messages["proposal_correct"].notna()
    return np.asarray(usable, dtype=np.bool_)


def _maskable(context: AnalysisContext, family: str) -> Iterator[Case]:
    """Yield every message that has a label from all blocks, an answer, and some reasoning.

    A family of whom no problem could be repeated has none.
    """
    try:
        blocks = repeats_of(context).get(family)
    except Absent:
        blocks = None
    if blocks is None:
        return
    rows = _pool_rows(context.records.messages, family)
    categories = message_categories(blocks)
    for problem, uid in enumerate(blocks.problem_uids):
        for message in range(POOL_SIZE):
            is_labelled = blocks.valid_blocks[problem, message] == blocks.block_count
            if is_labelled and (str(uid), message + 1) in rows:
                yield Case(
                    category=categories[str(uid), message + 1],
                    benchmark=str(blocks.benchmarks[problem]),
                    problem_uid=str(uid),
                    message_index=message + 1,
                )


def _pool_rows(messages: pd.DataFrame, family: str) -> frozenset[tuple[str, int]]:
    """Return the eligible messages of a family that have at least one reasoning field."""
    reasoned = messages[list(REASONING_FIELDS)].notna().any(axis=1).to_numpy()
    is_mine = (messages["model"] == family).to_numpy()
    mine = messages[_eligible(messages) & reasoned & is_mine]
    return frozenset(
        zip(mine["problem_uid"].astype(str), mine["message_index"].astype(int), strict=True)
    )


def _draw(
    out: Path,
    head: Mapping[str, Any],
    candidates: Sequence[Candidate],
    wanted: int,
    *,
    label: str,
    earlier: Sequence[str],
) -> str:
    """Draw a sample, the problems of an earlier draw first, and write it."""
    chosen = sample_problems(candidates, wanted, seed=head["seed"], label=label, earlier=earlier)
    return _write_sample(
        out,
        head,
        wanted=wanted,
        available=len(candidates),
        problems=[asdict(one) for one in chosen],
        earlier=earlier,
    )


def _write_sample(
    out: Path,
    head: Mapping[str, Any],
    *,
    wanted: int,
    available: int,
    problems: list[dict[str, Any]],
    earlier: Sequence[str] = (),
) -> str:
    taken = {problem["problem_uid"] for problem in problems}
    sizes = {"wanted": wanted, "available": available}
    # Problems that were drawn once are remembered: they are the first to come back.
    aside = {"set_aside": [uid for uid in earlier if uid not in taken]}
    write_manifest(out, {**head, **sizes, "problems": problems, **aside})
    shortfall = "" if available >= wanted else f"shortfall: {available} of {wanted} exist; "
    stay = f" ({len(taken.intersection(earlier))} of an earlier draw)" if earlier else ""
    return f"{shortfall}{number_of(len(problems), 'problem')} drawn{stay}: {out}"
