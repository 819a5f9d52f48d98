"""Whole scans without a workflow: problems, a stand-in for every model call, and records."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dhd.config.load import Study, load_study
from dhd.deliberation import ProtocolSetup, deliberate
from dhd.layout import StudyPaths
from dhd.prompts import PromptSet
from dhd.requests import Completion, Request
from dhd.stages.collect import collect_records
from dhd.stages.deliberate import scan_tables
from dhd.stages.interim import write_interim
from dhd.stages.judge import JudgingJob
from dhd.stages.prepare import prepare_problems, read_problems
from dhd.stages.running import run_bundle
from support.studies import PROJECT_ROOT, SCRIPTED, write_problems

ROSTER = json.dumps({"roles": [{"name": f"Adder {n}", "lens": "add"} for n in "ABCDE"]})
NO_ROSTER = json.dumps({"roles": [{"name": "Adder", "lens": "add"}] * 5})
MESSAGE = json.dumps(
    {
        "reasoning_direction": "count",
        "proposed_answer": "0",
        "key_idea": "count",
        "critical_assumption": "none",
        "what_to_check": "the sum",
        "confidence": "low",
    }
)
ANSWER = json.dumps({"work": "count", "final_answer": "0"})


@dataclass(frozen=True)
class Says:
    """What the model says in each role; None: the request fails."""

    recruiter: str | None = ROSTER
    hypothesizer: str | None = MESSAGE
    integrator: str | None = ANSWER

    async def generate(self, request: Request) -> Completion:
        """Answer one request."""
        text = getattr(self, request.role)
        made = Completion(key="k", status="ok", text=text, finish_reason="stop", answered_by="a@1")
        return made if text is not None else replace(made, status="failed", reason="timeout")


def small_study(benchmarks: int = 1, problems: int = 2, **sections: Any) -> Study:
    """Return a study of one family in the working directory, its problems prepared."""
    names = [f"sums{n}" for n in range(benchmarks)]
    for name in names:
        write_problems(Path(f"{name}.jsonl"), problems)
    config = {
        **SCRIPTED,
        "study": "small",
        "families": {"alpha": {"actor": "scripted-a"}},
        "benchmarks": {name: {"loader": "user", "path": f"{name}.jsonl"} for name in names},
        "judging": {"method": "rules"},
        "analysis": {"bootstrap_resamples": 20},
    }
    study = load_study(config | sections, source="test", root=PROJECT_ROOT)
    for name in names:
        path = StudyPaths.of("small").problems(name)
        prepare_problems(study, name, Path(f"{name}.jsonl"), path)
    return study


def scan(study: Study, says: Callable[[str], Says]) -> Path:
    """Scan and judge all problems; return the records' folder.

    Parameters
    ----------
    says
        What the model says to the problems of a benchmark.
    """
    setup = ProtocolSetup.of(study.settings, PromptSet(study.settings.prompts, study.root))
    paths = StudyPaths.of("small")
    bundles, judged = [], []
    for name in study.settings.benchmarks:
        found = [
            asyncio.run(deliberate(problem, setup, says(name).generate))
            for problem in read_problems(paths.problems(name))
        ]
        stem = paths.bundle("deliberation", "alpha", name)
        sources = []
        for kind, table in scan_tables("alpha", found).items():
            sources.append(stem / f"0000.{kind}.parquet")
            write_interim(kind, [table], sources[-1])
        bundles += sources
        judged.append(paths.bundle("judging", "scan", name) / "0000.judgements.parquet")
        run_bundle(study, JudgingJob("scan", name, "0000", tuple(sources), judged[-1]))
    collect_records(study, bundles, judged, paths.records())
    return paths.records()
