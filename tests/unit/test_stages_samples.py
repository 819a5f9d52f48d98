"""Manifests of the replay studies, drawn from records."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from dhd.config.load import Study, load_study
from dhd.errors import RecordsError
from dhd.layout import StudyPaths
from dhd.records import write_table
from dhd.stages.audits import AuditJob
from dhd.stages.manifests import read_cases, read_sample
from dhd.stages.prepare import prepare_problems, read_problems
from dhd.stages.protocols import ProtocolJob
from dhd.stages.replays import ReplayJob
from dhd.stages.samples import choose_masking, sample_again, sample_repeats
from support.scan_records import Scan, make_records
from support.studies import write_problems

BLOCKS = 5
#: Judgements of the five removals, the same in every block; full pools are right throughout.
HELPFUL, NEUTRAL = 0, 1


def study(folder: Path, root: Path, **studies: Any) -> Study:
    models = folder / "models.yaml"
    known = {name: {"engine": "scripted", "name": name} for name in ("m", "n")}
    models.write_text(yaml.safe_dump({"models": known}))
    config = {
        "study": "s",
        "models_file": str(models),
        "families": {"m": {"actor": "m"}},
        "benchmarks": {name: {"loader": "user", "path": "p.jsonl"} for name in ("alpha", "beta")},
        "judging": {"method": "rules"},
        "studies": {"repeats": {"problems": 3, "blocks": BLOCKS}} | studies,
    }
    return load_study(config, source="test", root=root)


def without(at: int, **changes: Any) -> dict[str, Any]:
    """Return settings of a scan in which message ``at`` is not eligible."""
    values: dict[str, Any] = {
        "rendered": np.ones(5, bool),
        "proposal": np.ones(5, np.int8),
        "answers": ["7"] * 5,
    }
    for name, value in changes.items():
        values[name][at] = value
    return values


def write_scan(folder: Path, scans: list[Scan], repeats: list[dict[str, Any]] = ()) -> Path:  # type: ignore[assignment]
    records = make_records({"m": scans})
    outcomes = records.outcomes.astype({"problem_uid": "str"})
    if repeats:
        outcomes = pd.concat([outcomes, pd.DataFrame(repeats).astype({"correct": "Int8"})])
    records.problems["stratum"] = [f"t{at % 2}" for at in range(len(scans))]
    for name, frame in (
        ("problems", records.problems),
        ("messages", records.messages),
        ("outcomes", outcomes),
    ):
        write_table(name, frame, folder / "records" / f"{name}.parquet")
    return folder / "records"


def test_only_problems_with_five_eligible_messages_are_drawn(
    tmp_path: Path, project_root: Path
) -> None:
    scans = [
        Scan(),
        Scan(**without(1, rendered=False)),
        Scan(),
        Scan(**without(2, answers=None, proposal=0)),
        Scan(**without(4, proposal=-1)),
        Scan(benchmark="beta"),
    ]
    out = tmp_path / "sample.json"
    line = sample_repeats(
        study(tmp_path, project_root), "m", "alpha", write_scan(tmp_path, scans), out
    )
    assert set(read_sample(out)) == {"alpha:0", "alpha:2"}
    assert line.startswith("shortfall: 2 of 3 exist; ")
    manifest = json.loads(out.read_text())
    assert (manifest["wanted"], manifest["available"]) == (3, 2)


def test_stratified_benchmarks_are_drawn_by_stratum(tmp_path: Path, project_root: Path) -> None:
    records = write_scan(tmp_path, [Scan() for _ in range(20)])
    for stratified, strata in ((["alpha"], {"t0", "t1"}), (None, {None})):
        repeats = {"problems": 10, "blocks": BLOCKS, "stratified": stratified}
        out = tmp_path / "sample.json"
        sample_repeats(study(tmp_path, project_root, repeats=repeats), "m", "alpha", records, out)
        drawn = Counter(one["stratum"] for one in json.loads(out.read_text())["problems"])
        assert set(drawn) == strata
        if stratified:
            assert abs(drawn["t0"] - 5) <= 1


def test_order_and_swap_take_the_first_of_the_repeated_problems(
    tmp_path: Path, project_root: Path
) -> None:
    records = write_scan(tmp_path, [Scan() for _ in range(9)])
    settings = study(tmp_path, project_root, order={"problems": 2})
    repeats, out = tmp_path / "repeats.json", tmp_path / "order.json"
    sample_repeats(settings, "m", "alpha", records, repeats)
    sample_again(settings, "order", "m", "alpha", repeats, out)
    assert read_sample(out) == read_sample(repeats)[:2]


def repeated(uid: str, removals: list[int], missing_block: int = 0) -> list[dict[str, Any]]:
    """Return the repeats of a problem whose full pools are right and removals as given."""
    cells = [("full", 0, 1, 1), ("full", 0, 2, 1)]
    cells += [("removal", at + 1, 1, correct) for at, correct in enumerate(removals)]
    return [
        {
            "study": "repeats",
            "model": "m",
            "integrator": "m",
            "problem_uid": uid,
            "condition": condition,
            "k": 5,
            "message_index": index,
            "block": block,
            "repeat": repeat,
            "slot": 1,
            "answer": "7",
            "correct": None if block == missing_block and condition == "removal" else correct,
            "status": "failed" if block == missing_block and condition == "removal" else "ok",
        }
        for block in range(1, BLOCKS + 1)
        for condition, index, repeat, correct in cells
    ]


def test_masking_takes_wanted_categories_and_says_what_lacks(
    tmp_path: Path, project_root: Path
) -> None:
    wrong_first = np.array([0, 1, 1, 1, 1], np.int8)
    scans = [
        Scan(proposal=wrong_first),
        Scan(proposal=wrong_first),
        Scan(proposal=wrong_first, benchmark="beta"),
        Scan(proposal=wrong_first),
    ]
    repeats = [
        *repeated("alpha:0", [HELPFUL, HELPFUL, NEUTRAL, NEUTRAL, NEUTRAL]),
        *repeated("alpha:1", [HELPFUL, NEUTRAL, NEUTRAL, NEUTRAL, NEUTRAL]),
        *repeated("beta:2", [HELPFUL, NEUTRAL, NEUTRAL, NEUTRAL, NEUTRAL]),
        *repeated("alpha:3", [HELPFUL, NEUTRAL, NEUTRAL, NEUTRAL, NEUTRAL], missing_block=2),
    ]
    cases = {"wrong_helpful": 2, "correct_helpful": 2, "wrong_harmful": 1}
    out = tmp_path / "cases.json"
    said = choose_masking(
        study(tmp_path, project_root, masking={"cases": cases}),
        "m",
        write_scan(tmp_path, scans, repeats),
        out,
    )
    manifest = json.loads(out.read_text())
    assert manifest["available"] == {"wrong_helpful": 3, "correct_helpful": 1, "wrong_harmful": 0}
    assert manifest["found"] == {"wrong_helpful": 2, "correct_helpful": 1, "wrong_harmful": 0}
    assert "shortfall: correct_helpful: 1 of 2 wanted messages exist" in said
    assert "shortfall: wrong_harmful: 0 of 1 wanted messages exist" in said
    alpha, beta = read_cases(out, "alpha"), read_cases(out, "beta")
    assert {case.problem_uid for case in beta} == {"beta:2"}
    assert Counter(case.category for case in (*alpha, *beta)) == {
        "wrong_helpful": 2,
        "correct_helpful": 1,
    }
    assert {(c.category, c.message_index) for c in alpha} == {
        ("wrong_helpful", 1),
        ("correct_helpful", 2),
    }


def test_masking_without_any_repeat_is_an_empty_sample_that_says_so(
    tmp_path: Path, project_root: Path
) -> None:
    out = tmp_path / "cases.json"
    said = choose_masking(
        study(tmp_path, project_root, masking={"cases": {"indeterminate": 2}}),
        "m",
        write_scan(tmp_path, [Scan(**without(1, rendered=False))]),
        out,
    )
    manifest = json.loads(out.read_text())
    assert manifest["found"] == manifest["available"] == {"indeterminate": 0}
    assert manifest["cases"] == []
    assert "shortfall: indeterminate: 0 of 2 wanted messages exist" in said


def chosen(folder: Path, root: Path, problems: int, **masking: Any) -> set[tuple[str, int, str]]:
    """Choose cases among some problems that are repeated, in benchmarks by turns."""
    benchmarks = [("alpha", "beta")[at % 2] for at in range(problems)]
    repeats = [
        row
        for at, benchmark in enumerate(benchmarks)
        for row in repeated(f"{benchmark}:{at}", [HELPFUL] * 3 + [NEUTRAL] * 2)
    ]
    records = write_scan(folder, [Scan(benchmark=name) for name in benchmarks], repeats)
    out = folder / "cases.json"
    choose_masking(study(folder, root, masking=masking), "m", records, out)
    cases = json.loads(out.read_text())["cases"]
    return {(case["problem_uid"], case["message_index"], case["category"]) for case in cases}


def test_masking_keeps_earlier_cases_and_fills_what_lacks(
    tmp_path: Path, project_root: Path
) -> None:
    cases = {"correct_helpful": 4, "indeterminate": 3}
    few = chosen(tmp_path, project_root, 1, cases=cases)
    assert Counter(category for *_, category in few) == {"correct_helpful": 3, "indeterminate": 2}
    more = chosen(tmp_path, project_root, 40, cases=cases)
    assert few < more
    assert Counter(category for *_, category in more) == cases
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    assert not few <= chosen(fresh, project_root, 40, cases=cases)
    assert chosen(tmp_path, project_root, 60, cases=cases) == more
    grown = chosen(tmp_path, project_root, 60, cases={"indeterminate": 5})
    assert {case for case in more if case[2] == "indeterminate"} < grown
    assert len(grown) == 5


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"integrator": {"temperature": 0.9, "max_tokens": 99}}]
)
def test_masking_is_chosen_anew_for_another_seed_or_other_calls(
    tmp_path: Path, project_root: Path, change: dict[str, Any]
) -> None:
    records = write_scan(tmp_path, [Scan()], repeated("alpha:0", [NEUTRAL] * 5))
    out = tmp_path / "cases.json"
    before = study(tmp_path, project_root, masking={"cases": {"indeterminate": 5}})
    choose_masking(before, "m", records, out)
    assert len(read_cases(out, "alpha")) == 5
    later = study(tmp_path, project_root, masking={"cases": {"indeterminate": 5}}, **change)
    records = write_scan(tmp_path, [Scan()])
    choose_masking(before, "m", records, out)
    assert len(read_cases(out, "alpha")) == 5
    choose_masking(later, "m", records, out)
    assert not read_cases(out, "alpha")


@pytest.mark.parametrize("kind", ["repeats", "masking", "protocols", "audits"])
def test_sampled_problems_that_are_gone_are_named(
    tmp_path: Path, project_root: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_problems(tmp_path / "p.jsonl", 2)
    settings = study(
        tmp_path,
        project_root,
        masking={},
        protocols={"names": ["direct"]},
        evaluators={"models": ["m", "n"]},
    )
    problems = StudyPaths.of("s").problems("alpha")
    prepare_problems(settings, "alpha", tmp_path / "p.jsonl", problems)
    known = read_problems(problems)[0].problem_uid
    uids = [{"problem_uid": uid, "benchmark": "alpha"} for uid in (known, "gone-1", "gone-2")]
    case = {"category": "indeterminate", "message_index": 1}
    submission = {"submission_id": "1", "model": "m", "kind": "full", "submitted": "7"}
    manifest = Path("manifest.json")
    document = {
        "problems": uids,
        "cases": [case | one for one in uids],
        "submissions": [submission | one | {"triplet_id": None} for one in uids],
    }
    manifest.write_text(json.dumps(document))
    jobs = {
        "repeats": ReplayJob("repeats", "m", "m", "alpha", "0000", manifest, ()),
        "masking": ReplayJob("masking", "m", "m", "alpha", "0000", manifest, ()),
        "protocols": ProtocolJob("m", "alpha", "0000", manifest, Path("out.parquet")),
        "audits": AuditJob("m", "alpha", manifest, Path("out.parquet")),
    }
    found = r"manifest\.json: 2 sampled problem\(s\) .* 'gone-1', 'gone-2'; put them back"
    with pytest.raises(RecordsError, match=found):
        jobs[kind].prepare(settings)


def test_a_damaged_manifest_is_named(tmp_path: Path) -> None:
    path = tmp_path / "sample.json"
    path.write_text('{"problems": [')
    with pytest.raises(RecordsError, match=r"sample\.json: not a readable manifest"):
        read_sample(path)
