"""Calls and prompt tokens of a scan, and evaluations, with and without sharing.

Usage: ``python bench/sharing.py``  (scripted engine, whole workflow)
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

import yaml
from measure import ROOT, Report

sys.path.insert(0, str(ROOT / "tests"))
from support.studies import snakemake, write_problems

PROBLEMS = 40


def counts(share: bool) -> Counter[str]:
    """Run the scripted study; return calls and prompt tokens by stage."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_problems(folder / "sums.jsonl", PROBLEMS)
        models = {"actor": {"engine": "scripted"}, "judge": {"engine": "scripted", "name": "judge"}}
        (folder / "models.yaml").write_text(yaml.safe_dump({"models": models}))
        config = {
            "study": "sharing",
            "models_file": str(folder / "models.yaml"),
            "families": {"a": {"actor": "actor"}},
            "benchmarks": {"sums": {"loader": "user", "path": str(folder / "sums.jsonl")}},
            "judging": {
                "method": "llm",
                "evaluator": "judge",
                "share_identical_submissions": share,
            },
            "replay": {"share_identical_inputs": share},
        }
        path = folder / "config.yaml"
        path.write_text(yaml.safe_dump(config))
        snakemake(folder, path, "records")
        found: Counter[str] = Counter()
        for journal in folder.glob("results/*/journal/**/*.jsonl"):
            stage = journal.relative_to(folder).parts[3]
            for line in journal.read_text().splitlines():
                row = json.loads(line)
                found[f"{stage} calls"] += 1
                found[f"{stage} prompt tokens"] += row.get("prompt_tokens", 0)
        return found


def main() -> None:
    """Print both, and check the integrator's 24 and 18 calls a problem."""
    report = Report()
    shared, alone = counts(True), counts(False)
    for name in shared:
        saved = 1 - shared[name] / alone[name]
        report.note(f"{name}: {alone[name]:,} alone, {shared[name]:,} shared", f"-{saved:.0%}")
    for label, found, expected in (("shared", shared, 18), ("alone", alone, 24)):
        # Beside the integrator's cells a problem has one roster, five messages, one solo call.
        calls = found["deliberation calls"] / PROBLEMS - 7
        report.line(
            f"integrator calls a problem, {label}",
            f"{calls:.2f}",
            limit=f"{expected}",
            ok=calls == expected,
        )
    report.close()


if __name__ == "__main__":
    main()
