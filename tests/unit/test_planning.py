"""Plans: against what a simulated run logs, against the paper's counts, and by hand."""

import asyncio
import csv
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from dhd.cli import main
from dhd.config.load import Study, load_study
from dhd.errors import ConfigError
from dhd.planning.assumptions import Assumptions, Throughput
from dhd.planning.counts import Line
from dhd.planning.judges import AssumedRules
from dhd.planning.measured import measured_assumptions
from dhd.planning.pilot import evenly
from dhd.planning.plan import PlanRow, gpu_hours, make_plan
from dhd.planning.report import plan_lines
from dhd.problems import Problem
from dhd.simulation.files import write_stand_ins
from dhd.stages.deliberate import DeliberationJob
from dhd.stages.interim import read_interim
from dhd.stages.judge import JudgingJob
from dhd.stages.prepare import prepare_problems
from dhd.stages.protocols import ProtocolJob
from dhd.stages.running import run_bundle
from dhd.stages.samples import sample_protocols
from support.simulated import PROJECT_ROOT

BENCHMARKS = ("jeebench", "lab_bench")
CLEAN = {"engine": "simulated", "lengths": {"hypothesizer": 900, "integrator": 700}}
MODELS = {
    "a": {**CLEAN, "name": "a"},
    "b": {**CLEAN, "name": "b", "messages": {"ability_shift": -1.0}},
    "judge": {"engine": "simulated", "name": "judge"},
    "big": {
        "engine": "vllm",
        "path": "some/model",
        "max_model_len": 8192,
        "tensor_parallel_size": 4,
    },
}


def study_of(folder: Path, limit: int, **sections: Any) -> Study:
    """Return a simulated study of two families whose files lie in a folder."""
    write_stand_ins(folder / "data", limit)
    (folder / "models.yaml").write_text(yaml.safe_dump({"models": MODELS}))
    return load_study(config_of(folder) | sections, source="test", root=PROJECT_ROOT)


def config_of(folder: Path) -> dict[str, Any]:
    return {
        "study": "planned",
        "models_file": str(folder / "models.yaml"),
        "families": {"one": {"actor": "a"}, "two": {"actor": "b"}},
        "benchmarks": {
            name: {"loader": "user", "path": str(folder / "data" / f"{name}.jsonl")}
            for name in BENCHMARKS
        },
        "judging": {
            "method": "llm",
            "evaluator": "judge",
            "share_identical_submissions": False,
        },
        "replay": {"share_identical_inputs": False},
        "shards": {"problems": 16},
    }


def run_scan(study: Study) -> None:
    """Run the scan of both families and its judging in the working directory."""
    results = Path("results/planned")
    for name in BENCHMARKS:
        path = study.resolve(str(study.settings.benchmarks[name].path))
        prepare_problems(study, name, path, results / "problems" / f"{name}.parquet")
        for family in study.settings.families:
            run_bundle(study, DeliberationJob(family, name, "0000"))
        sources = sorted(results.glob(f"bundles/deliberation/*/{name}/*.parquet"))
        out = results / f"{name}.judgements.parquet"
        run_bundle(study, JudgingJob("scan", name, "0000", tuple(sources), out))


def logged(pattern: str) -> tuple[int, int, int]:
    """Return calls, prompt and output tokens of some journals."""
    lines = [
        json.loads(line)
        for path in Path("results/planned/journal").glob(pattern)
        for line in path.read_text().splitlines()
    ]
    tokens = [(line.get("prompt_tokens", 0), line.get("completion_tokens", 0)) for line in lines]
    return len(lines), sum(one for one, _ in tokens), sum(other for _, other in tokens)


def sums(rows: list[PlanRow]) -> tuple[float, float, float]:
    return (
        sum(row.calls for row in rows),
        sum(row.prompt_tokens for row in rows),
        sum(row.output_tokens for row in rows),
    )


@pytest.mark.slow
def test_a_plan_is_what_a_simulated_run_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = study_of(tmp_path, 40)
    plan = make_plan(study, Assumptions(), sample=15)
    run_scan(study)
    for family in ("one", "two"):
        calls, prompt, output = sums([row for row in plan if row.line.family == family])
        found = logged(f"deliberation/{family}/**/*.jsonl")
        assert calls == found[0] == 31 * 80
        assert prompt == pytest.approx(found[1], rel=0.05)
        assert output == pytest.approx(found[2], rel=0.05)
    tables = [read_interim("judgements", path) for path in Path("results/planned").glob("*.parq*")]
    judging = [row for row in plan if row.line.stage == "judging"]
    calls, prompt, output = sums(judging)
    assert calls == sum(table.num_rows for table in tables) == 60 * 80
    for column, planned in (("prompt_tokens", prompt), ("completion_tokens", output)):
        found = sum(sum(table[column].to_pylist()) for table in tables)
        assert planned == pytest.approx(found, rel=0.05)


def test_a_pilot_on_all_problems_has_no_error_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    faulty = {"invalid": 0.1, "truncated": 0.05, "failed": 0.01}
    monkeypatch.setitem(MODELS, "a", {**MODELS["a"], "format": faulty})
    study = study_of(tmp_path, 10, journal={"max_attempts": 1})
    run_scan(study)
    (planned,) = [
        sums([row for row in make_plan(study, Assumptions(), None) if row.line.family == "one"])
    ]
    assert planned == pytest.approx(logged("deliberation/one/**/*.jsonl"))
    assert planned[0] != 31 * 20


@pytest.mark.parametrize(
    ("judging", "protocols"),
    [
        ({"method": "rules"}, {"hint_writer": "judge"}),
        ({"method": "rules_then_llm", "evaluator": "judge"}, {}),
    ],
)
def test_protocols_that_rules_judge_are_planned_as_they_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    judging: dict[str, Any],
    protocols: dict[str, Any],
) -> None:
    monkeypatch.chdir(tmp_path)
    protocols = {"names": ["iterative", "per"], **protocols}
    study = study_of(tmp_path, 8, judging=judging, studies={"protocols": protocols})
    evaluated = 0
    for name in BENCHMARKS:
        path = study.resolve(str(study.settings.benchmarks[name].path))
        problems = Path(f"results/planned/problems/{name}.parquet")
        sample, out = Path(f"{name}.json"), Path(f"{name}.parquet")
        prepare_problems(study, name, path, problems)
        sample_protocols(study, name, problems, sample)
        run_bundle(study, ProtocolJob("one", name, "0000", sample, out))
        evaluated += int(pd.read_parquet(out)["evaluator_calls"].sum())
    rows = [
        row
        for row in make_plan(study, Assumptions(), None)
        if (row.line.part, row.line.family) == ("protocols", "one")
    ]
    assert sums(rows) == pytest.approx(logged("protocols/one/**/*.jsonl"))
    assert sum(row.calls for row in rows if row.line.model == "judge") == evaluated > 0


def test_rules_on_answers_of_a_model_that_is_not_there_are_drawn() -> None:
    problem = Problem("uid", "mine", "What?", "5", "integer")

    def shares(accuracy: float, undecided: float) -> list[float]:
        async def compare_all() -> list[bool | None]:
            rules = AssumedRules(accuracy, undecided)
            return [(await rules.compare(problem, str(n))).equivalent for n in range(2000)]

        found = asyncio.run(compare_all())
        assert found == asyncio.run(compare_all())
        return [found.count(verdict) / len(found) for verdict in (True, False, None)]

    assert shares(0.75, 0.0) == pytest.approx([0.75, 0.25, 0.0], abs=0.03)
    assert shares(0.75, 0.2) == pytest.approx([0.6, 0.2, 0.2], abs=0.03)


def test_runs_of_a_model_that_is_not_there_go_on_where_rules_judge(tmp_path: Path) -> None:
    """At accuracy 0 every run takes all its rounds: direct 1, iterative 3 solutions, 2 hints."""
    study = study_of(
        tmp_path,
        4,
        families={"big": {"actor": "big"}},
        judging={"method": "rules"},
        studies={"protocols": {"names": ["direct", "iterative"], "hint_writer": "judge"}},
    )
    rows = make_plan(study, Assumptions(accuracy=0.0, format={}), None)
    calls = {
        (row.line.stage, row.line.model): row.calls
        for row in rows
        if (row.line.part, row.line.benchmark) == ("protocols", "jeebench")
    }
    assert calls == {
        ("direct", "big"): 4,
        ("direct", "judge"): 0,
        ("iterative", "big"): 4 * 3,
        ("iterative", "judge"): 4 * 2,
    }


def test_a_measured_pilot_gives_its_lengths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dhd.layout import StudyPaths
    from dhd.stages import collect

    monkeypatch.chdir(tmp_path)
    study = study_of(tmp_path, 10)
    run_scan(study)
    results = Path("results/planned")
    bundles = sorted(results.glob("bundles/deliberation/**/*.parquet"))
    judged = sorted(results.glob("*.judgements.parquet"))
    collect.collect_records(study, bundles, judged, StudyPaths.of("planned").records())
    measured = measured_assumptions(study, "planned", Assumptions())
    assert measured.characters_per_token == pytest.approx(4.0, rel=0.01)
    assert measured.lengths.hypothesizer == pytest.approx(900, rel=0.05)
    assert measured.lengths.integrator == pytest.approx(700, rel=0.05)
    assert measured.lengths.recruiter == Assumptions().lengths.recruiter
    assert 60 < measured.lengths.text_chars < 120
    assert 0.4 < measured.accuracy < 0.95


def test_studies_at_paper_size_have_the_papers_calls(tmp_path: Path) -> None:
    """Published: 35 observations a repeated problem, 200 a benchmark; 22 masking cases × 8 × 5."""
    study = study_of(
        tmp_path,
        250,
        studies={
            "repeats": {"problems": 200, "blocks": 5},
            "order": {"problems": 20, "blocks": 3},
            "integrator_swap": {
                "problems": 20,
                "blocks": 3,
                "integrators": {"two": ["one"]},
            },
            "masking": {"families": ["two"]},
            "protocols": {},
            "evaluators": {"models": ["a", "judge"], "submissions": 400, "triplets": 10},
        },
    )
    rows = make_plan(study, Assumptions(), sample=2)

    def calls(part: str, stage: str, family: str) -> float:
        found = [row for row in rows if (row.line.part, row.line.stage) == (part, stage)]
        return sum(row.calls for row in found if row.line.family == family)

    assert calls("repeats", "replays", "one") == 35 * 200 * 2
    assert calls("order", "replays", "two") == 3 * 7 * 20 * 2
    assert calls("integrator_swap", "replays", "two") == 3 * 7 * 20 * 2
    assert calls("integrator_swap", "replays", "one") == 0
    assert calls("masking", "replays", "two") == pytest.approx(22 * 8 * 5)
    assert calls("repeats", "judging", "") == 2 * 35 * 200 * 2
    assert calls("protocols", "direct", "one") == 2 * 500
    assert calls("protocols", "broadcast", "one") > 19 * 500
    assert calls("evaluators", "audit", "") == pytest.approx(2 * (400 + 3 * 10 * 2), rel=0.02)


def test_replays_of_a_family_with_few_whole_pools_are_judged_as_often_as_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sample has whole pools alone: how many problems lack one changes no number."""
    monkeypatch.setitem(MODELS, "b", {**MODELS["b"], "format": {"invalid": 0.2}})
    studies = {"repeats": {"problems": 10, "blocks": 2}}
    study = study_of(tmp_path, 40, studies=studies)
    rows = make_plan(study, Assumptions(), sample=None)

    def calls(stage: str, family: str) -> float:
        found = [row for row in rows if (row.line.part, row.line.stage) == ("repeats", stage)]
        return sum(row.calls for row in found if row.line.family == family)

    assert calls("replays", "one") == calls("replays", "two") == 14 * 20
    assert calls("judging", "") == pytest.approx((1 + 0.8) * 14 * 20, rel=0.05)


def test_a_model_that_is_not_there_is_planned_by_assumptions(tmp_path: Path) -> None:
    problems = tmp_path / "mine.jsonl"
    problems.write_text(
        "".join(
            json.dumps(
                {
                    "problem_id": str(number),
                    "problem": f"What is {number} + 1?",
                    "reference": str(number + 1),
                    "answer_format": "integer",
                }
            )
            + "\n"
            for number in range(40)
        )
    )
    study = study_of(
        tmp_path,
        2,
        families={"big": {"actor": "big"}},
        benchmarks={"mine": {"loader": "user", "path": str(problems)}},
    )
    assumed = Assumptions(
        lengths={"hypothesizer": 1000, "sd": 0.0, "text_chars": 80},
        format={},
        throughput={"big": Throughput(prompt_tokens_per_s=1000, output_tokens_per_s=100)},
    )
    rows = make_plan(study, assumed, sample=5)
    scan = next(row for row in rows if row.line.stage == "deliberation")
    assert (scan.calls, scan.calls_se) == (31 * 40, 0.0)
    assert (scan.shards, scan.jobs) == (3, 1)
    assert scan.output_tokens == pytest.approx(40 * (600 + 5 * 1000 + 25 * 1600), rel=0.001)
    seconds = scan.prompt_tokens * 0.5 / 1000 + scan.output_tokens / 100
    assert scan.gpu_hours == pytest.approx(4 * seconds / 3600)
    judge = next(row for row in rows if row.line.stage == "judging")
    assert judge.gpu_hours == 0.0
    assert judge.calls > 0.9 * 30 * 40
    halved = make_plan(study, assumed.model_copy(update={"characters_per_token": 8.0}), sample=5)
    assert halved[0].prompt_tokens == pytest.approx(scan.prompt_tokens / 2)


def test_gpu_hours_of_models_elsewhere_are_none(tmp_path: Path) -> None:
    study = study_of(tmp_path, 2)
    assert gpu_hours(study.models["a"], "a", 1e6, 1e6, Assumptions()) == 0.0


def test_a_sample_is_spread_evenly() -> None:
    assert evenly(range(10), 2) == [2, 7]
    assert evenly(range(3), 5) == [0, 1, 2]
    assert evenly(range(3), None) == [0, 1, 2]


def test_the_command_prints_and_writes_a_plan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    study_of(tmp_path, 4)
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config_of(tmp_path)))
    monkeypatch.chdir(PROJECT_ROOT)
    command = ["plan", "--config", str(tmp_path / "config.yaml"), "--sample", "1"]
    assert main([*command, "--out", str(tmp_path / "plan.csv")]) == 0
    head, *lines, total = capsys.readouterr().out.splitlines()
    assert head.split()[:5] == ["part", "stage", "family", "model", "calls"]
    assert total.split()[:3] == ["total", f"{2 * 8 * (31 + 30):,}", "0"]
    assert len(lines) == 3
    with (tmp_path / "plan.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert sum(float(row["calls"]) for row in rows) == 2 * 8 * 61
    assert main([*command[:3], "--sample", "none"]) == 2
    assert "--sample = 'none'" in capsys.readouterr().err


def test_the_command_warns_of_a_model_that_a_run_would_miss(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = {"engine": "vllm", "path": "models/gone/x", "max_model_len": 2048}
    (tmp_path / "models.yaml").write_text(yaml.safe_dump({"models": {"m": model}}))
    row = {"problem_id": "p", "problem": "1?", "reference": "1", "answer_format": "integer"}
    (tmp_path / "own.jsonl").write_text(json.dumps(row))
    study = {
        "study": "s",
        "models_file": str(tmp_path / "models.yaml"),
        "families": {"f": {"actor": "m"}},
        "benchmarks": {"own": {"loader": "user", "path": str(tmp_path / "own.jsonl")}},
        "judging": {"method": "rules"},
    }
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(study))
    assert main(["plan", "--config", str(tmp_path / "config.yaml")]) == 0
    warning = (
        "dhd: warning: a run would be refused: models.m.path = 'models/gone/x': no such folder"
    )
    assert capsys.readouterr().err.startswith(warning)


def test_rows_that_share_their_jobs_with_another_say_so() -> None:
    def row(stage: str, shards: int, jobs: int) -> PlanRow:
        line = Line("protocols", stage, "f", "m", "b")
        return PlanRow(line, 4.0, 10.0, 0.0, 0.0, 0.0, 0.0, shards, jobs)

    lines = plan_lines([row("first", 3, 2), row("second", 0, 0)])
    assert [line.split()[-2:] for line in lines[1:4]] == [["3", "2"], ["-", "-"], ["3", "2"]]
    assert lines[4].startswith("-: in the shards and jobs of the family's first protocol")
    assert len(plan_lines([row("first", 3, 2)])) == 3


def test_the_command_prints_powers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dhd.commands.plan._POPULATION", 20)
    study_of(tmp_path, 4)
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config_of(tmp_path)))
    monkeypatch.chdir(PROJECT_ROOT)
    command = ["plan", "--config", str(tmp_path / "config.yaml"), "--power"]
    assert main([*command, "a", "--blocks", "2", "3", "--problems", "20"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["blocks", "problems", "calls"]
    assert [line.split()[:3] for line in lines] == [["2", "20", "280"], ["3", "20", "420"]]
    assert main([*command, "big"]) == 2
    assert "no simulated model" in capsys.readouterr().err
    assert main([*command, "a", "--blocks", "1"]) == 2


def test_a_benchmark_that_is_not_downloaded_is_named(tmp_path: Path) -> None:
    study = study_of(tmp_path, 2)
    (tmp_path / "data" / "lab_bench.jsonl").unlink()
    with pytest.raises(ConfigError) as caught:
        make_plan(study, Assumptions(), 1)
    text = str(caught.value)
    assert text.startswith("benchmarks.lab_bench.path = ")
    assert f"for stand-ins run `dhd stand-ins --out {tmp_path / 'data'}`" in text
    assert "download" not in text
