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


def config(folder: Path, studies: dict[str, Any], **benchmarks: int) -> Path:
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
    return write_config(folder, benchmarks=loaded, studies=studies, **sections)


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
    snakemake(tmp_path, config(tmp_path, STUDIES, sums=9), "records")
    before, requests = sampled(tmp_path), asked(tmp_path)
    assert all(requests[study] for study in SAMPLED)

    snakemake(tmp_path, config(tmp_path, STUDIES, sums=33), "records")
    assert sampled(tmp_path) == before
    now = asked(tmp_path)
    assert {study: now[study] for study in SAMPLED} == {one: requests[one] for one in SAMPLED}
    assert now["deliberation"] > 3 * requests["deliberation"]

    # A benchmark, a block and a problem more, in one run.
    more = STUDIES | {
        "repeats": {"problems": 5, "blocks": 3},
        "order": {"problems": 3, "blocks": 2},
    }
    snakemake(tmp_path, config(tmp_path, more, sums=33, others=6), "records")
    new = {study: asked(tmp_path)[study] - now[study] for study in SAMPLED}
    assert new == dict.fromkeys(SAMPLED, 0) | {"repeats": 5 * 7, "order": 2 * 7}
    kept = {"evaluators.json", "order/alpha/sums.json"}
    after = sampled(tmp_path)
    assert {name: after[name] for name in before.keys() - kept} == {
        name: before[name] for name in before.keys() - kept
    }
    assert before["order/alpha/sums.json"] < after["order/alpha/sums.json"]
    assert after["evaluators.json"] != before["evaluators.json"]

    now = asked(tmp_path)
    snakemake(tmp_path, config(tmp_path, more, sums=33), "records")
    assert sampled(tmp_path)["evaluators.json"] == before["evaluators.json"]
    assert asked(tmp_path) == now
    assert not finished_more_than_once(tmp_path)
    outcomes = load_records(tmp_path / "results" / "scripted" / "records").outcomes
    for study in ("repeats", "order", "masking"):
        assert (outcomes["study"] == study).sum() == now[study]
