"""The evaluator audit as a stage: who judged is in every row."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pandas as pd
import pytest

from dhd.audits import AuditSubmission
from dhd.config.load import load_study
from dhd.layout import StudyPaths
from dhd.records import read_table
from dhd.stages.audits import AuditJob
from dhd.stages.manifests import write_manifest
from dhd.stages.prepare import prepare_problems, read_problems
from dhd.stages.running import run_bundle
from support.studies import PROJECT_ROOT, SCRIPTED


def test_every_row_says_who_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    audit = {"models": ["scripted-c", "scripted-judge"], "submissions": 8, "triplets": 0}
    config = SCRIPTED | {"studies": {"evaluators": audit}}
    study = load_study(config, source="test", root=PROJECT_ROOT)
    path = StudyPaths.of("scripted").problems("marbles")
    prepare_problems(
        study, "marbles", study.resolve(str(study.settings.benchmarks["marbles"].path)), path
    )
    submissions = [
        AuditSubmission(
            submission_id=problem.problem_uid,
            model="alpha",
            problem_uid=problem.problem_uid,
            benchmark="marbles",
            kind="independent",
            submitted=problem.reference,
        )
        for problem in read_problems(path)[:8]
    ]
    write_manifest(Path("audit.json"), {"submissions": [asdict(one) for one in submissions]})
    judges = {}
    for evaluator in audit["models"]:
        out = Path(f"{evaluator}.parquet")
        run_bundle(study, AuditJob(evaluator, "marbles", Path("audit.json"), out))
        rows = read_table("evaluations", out)
        assert len(rows) == len(submissions)
        judged = rows[pd.notna(rows["verdict"])]
        assert (judged["judged_by"] == judged["answered_by"]).all()
        judges[evaluator] = set(judged["judged_by"])
    assert judges == {"scripted-c": {"c"}, "scripted-judge": {"judge"}}
