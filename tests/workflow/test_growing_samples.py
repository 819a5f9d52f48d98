"""A benchmark that grows: what was sampled stays, and only new problems are asked."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dhd.records import load_records
from support.studies import (
    SCRIPTED,
    finished_more_than_once,
    journal_lines,
    snakemake,
    write_config,
    write_problems,
)

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

STUDIES: dict[str, Any] = {
    "repeats": {"problems": 5, "blocks": 2},
    "order": {"problems": 2, "blocks": 2},
    "masking": {"repetitions": 1, "cases": {"indeterminate": 3}},
    "protocols": {"names": ["direct", "iterative"], "problems": 4},
    "evaluators": {"models": ["scripted-c", "scripted-judge"], "submissions": 30, "triplets": 4},
}
SAMPLED = ("repeats", "order", "masking", "protocols", "audits")


def config(folder: Path, **benchmarks: int) -> Path:
    """Return a study of one family whose benchmarks have so many problems."""
    for name in benchmarks:
        write_problems(folder / f"{name}.jsonl", 40)
    loaded = {
        name: {"loader": "user", "path": str(folder / f"{name}.jsonl"), "limit": limit}
        for name, limit in benchmarks.items()
    }
    sections = {
        "families": {"alpha": SCRIPTED["families"]["alpha"]},
        "bundles": dict.fromkeys(("deliberation_shards", "judging_shards", "replay_shards"), 9),
    }
    return write_config(folder, benchmarks=loaded, studies=STUDIES, **sections)


def asked(folder: Path) -> Counter[str]:
    """Return the finished requests of each study on the benchmark that grows."""
    journals = folder / "results" / "scripted" / "journal"
    return Counter(
        path.relative_to(journals).parts[0]
        for path in journals.rglob("*.jsonl")
        if "sums" in path.parts
        for _ in path.read_text(encoding="utf-8").splitlines()
    )


def sampled(folder: Path) -> dict[str, set[str]]:
    """Return what the manifests hold: problems, cases, submissions."""
    samples = folder / "results" / "scripted" / "samples"
    return {
        str(path.relative_to(samples)): {
            json.dumps(one, sort_keys=True)
            for kind in ("problems", "cases", "submissions")
            for one in json.loads(path.read_text()).get(kind, ())
        }
        for path in samples.rglob("*.json")
    }


def test_growing_benchmarks_ask_nothing_of_what_was_sampled(tmp_path: Path) -> None:
    snakemake(tmp_path, config(tmp_path, sums=9), "records")
    before, requests = sampled(tmp_path), asked(tmp_path)
    assert all(requests[study] for study in SAMPLED)

    snakemake(tmp_path, config(tmp_path, sums=33), "records")
    assert sampled(tmp_path) == before
    now = asked(tmp_path)
    assert {study: now[study] for study in SAMPLED} == {one: requests[one] for one in SAMPLED}
    assert now["deliberation"] > 3 * requests["deliberation"]

    snakemake(tmp_path, config(tmp_path, sums=33, others=6), "records")
    now = asked(tmp_path)
    assert {study: now[study] for study in SAMPLED} == {one: requests[one] for one in SAMPLED}
    after = sampled(tmp_path)
    assert after["evaluators.json"] != before["evaluators.json"]
    assert {name: after[name] for name in before if name != "evaluators.json"} == {
        name: rows for name, rows in before.items() if name != "evaluators.json"
    }

    snakemake(tmp_path, config(tmp_path, sums=33), "records")
    assert sampled(tmp_path)["evaluators.json"] == before["evaluators.json"]
    assert asked(tmp_path) == now
    assert not finished_more_than_once(tmp_path)
    outcomes = load_records(tmp_path / "results" / "scripted" / "records").outcomes
    for study in ("repeats", "order", "masking"):
        assert (outcomes["study"] == study).sum() == now[study]
    assert len(journal_lines(tmp_path)) > sum(now.values())
