"""`dhd status`: what is counted, what is estimated, and how long it takes."""

import json
import os
import time
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dhd.cli import main
from dhd.errors import RecordsError
from dhd.schedulers.controller import profile_of
from dhd.status.command import rerun_command
from dhd.status.overview import Overview, study_overview
from dhd.status.plan import BundlePlan, StagePlan, StudyPlan, read_plan, write_plan
from dhd.status.report import report_document, report_lines

NOW = 1_800_000_000.0
ALPHA = "deliberation/alpha/sums"


def stage(label: str = ALPHA, **changes: Any) -> StagePlan:
    """Return a stage of two bundles with two shards of four problems each."""
    defaults: dict[str, Any] = {
        "label": label,
        "group": "deliberation alpha",
        "journals": f"journal/{label}",
        "model": "m",
        "settings": "abc",
        "sampled": False,
        "problems": 16.0,
        "requests_per_problem": 25.0,
        "bundles": tuple(
            BundlePlan(name, shards, (f"bundles/{label}/{name}.messages.parquet",))
            for name, shards in {
                "0000": ("00000-00003", "00004-00007"),
                "0001": ("00008-00011", "00012-00015"),
            }.items()
        ),
    }
    return StagePlan(**{**defaults, **changes})


def note(folder: Path, *stages: StagePlan) -> None:
    write_plan(StudyPlan("s", 180.0, stages), folder)


def put_status(folder: Path, shard: str, *, beat: float | None = None, **values: Any) -> None:
    """Write a shard's note, status and, with ``beat``, its owner."""
    path = folder / "journal" / ALPHA / shard
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".problems").write_text("[]")
    document = {"stage": ALPHA, "settings": "abc", "problems": 4, "expected": 100} | values
    path.with_suffix(".status").write_text(json.dumps(document))
    if beat is not None:
        put_owner(path, beat)


def put_owner(path: Path, beat: float) -> None:
    path.with_suffix(".owner").write_text("{}")
    os.utime(path.with_suffix(".owner"), (beat, beat))


def put_engine(folder: Path, name: str, **values: Any) -> None:
    path = folder / "status" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {"stage": ALPHA, "host": "n1", "model": "m", "gpus": 4, "ended": True} | values
    path.write_text(json.dumps(document))


def put_output(folder: Path, bundle: str, label: str = ALPHA, kind: str = "messages") -> None:
    path = folder / "bundles" / label / f"{bundle}.{kind}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def counts(overview: Overview, group: str = "deliberation alpha") -> tuple[int, int, int]:
    one = overview.groups[group]
    return one.done, one.running, one.waiting


def test_nothing_begun_waits(tmp_path: Path) -> None:
    note(tmp_path, stage())
    overview = study_overview(tmp_path, NOW)
    assert counts(overview) == (0, 0, 4)
    assert overview.groups["deliberation alpha"].requests_left == 400
    assert overview.estimate.unknown == ("deliberation alpha",)
    assert "not known yet: deliberation alpha" in "\n".join(report_lines(overview))


def test_shards_are_done_running_or_waiting(tmp_path: Path) -> None:
    note(tmp_path, stage())
    put_status(tmp_path, "00000-00003", state="done", problems_done=4, answered=100)
    put_status(tmp_path, "00004-00007", state="running", answered=50, beat=NOW - 60)
    put_status(tmp_path, "00008-00011", state="running", answered=20, beat=NOW - 400)  # killed
    put_status(tmp_path, "00012-00015", state="stopped", answered=10)
    overview = study_overview(tmp_path, NOW)
    assert counts(overview) == (1, 1, 2)
    one = overview.groups["deliberation alpha"]
    assert one.answered == 180
    # 4 + 2 + 0.8 + 0.4 problems of 16 are worked, 25 requests each are left of the others.
    assert one.requests_left == pytest.approx((16 - 7.2) * 25)


def test_a_shard_of_other_settings_is_not_done(tmp_path: Path) -> None:
    note(tmp_path, stage())
    put_status(tmp_path, "00000-00003", state="done", settings="old")
    put_output(tmp_path, "0000")
    assert counts(study_overview(tmp_path, NOW)) == (1, 0, 3)


def test_without_a_status_the_written_bundle_counts(tmp_path: Path) -> None:
    note(tmp_path, stage(model=""))
    put_output(tmp_path, "0001")
    overview = study_overview(tmp_path, NOW)
    assert counts(overview) == (2, 0, 2)
    assert overview.estimate.unknown == ()


def test_shards_outside_a_sample_are_not_counted_once_their_bundle_began(tmp_path: Path) -> None:
    note(tmp_path, stage(sampled=True, problems=2.0))
    assert counts(study_overview(tmp_path, NOW)) == (0, 0, 4)
    put_status(tmp_path, "00000-00003", state="done", problems=1, answered=25)
    overview = study_overview(tmp_path, NOW)
    assert counts(overview) == (1, 0, 2)
    assert overview.groups["deliberation alpha"].requests_left == 25


def test_parts_that_share_journals_are_told_apart_and_counted_once(tmp_path: Path) -> None:
    journals = f"journal/{ALPHA}"
    scan, repeats = "judging/scan/sums", "judging/repeats/sums"
    parts = [
        stage(label, group="judging", journals=journals, requests_per_problem=None)
        for label in (scan, repeats)
    ]
    note(tmp_path, *parts)
    put_output(tmp_path, "0000", scan)
    values = {"stage": repeats, "state": "running", "expected": None, "answered": 30}
    put_status(tmp_path, "00000-00003", beat=NOW, **values)
    overview = study_overview(tmp_path, NOW)
    assert counts(overview, "judging") == (2, 1, 5)
    assert overview.groups["judging"].answered == 30


def test_a_turn_of_protocols_runs_but_is_not_done(tmp_path: Path) -> None:
    note(tmp_path, stage())
    turn = {"stage": f"{ALPHA}/turn-03", "state": "done", "problems_done": 4}
    put_status(tmp_path, "00000-00003", **turn)
    put_status(tmp_path, "00004-00007", **turn, beat=NOW)
    assert counts(study_overview(tmp_path, NOW)) == (0, 1, 3)


def test_gpu_hours_and_time_left_follow_from_engines(tmp_path: Path) -> None:
    note(tmp_path, stage())
    put_status(tmp_path, "00000-00003", state="done", problems_done=4, answered=100)
    # Two engine-hours for 100 answers: 1.2 minutes each, four GPUs; 300 are left.
    ended = {"begun": NOW - 9000, "updated": NOW - 5400, "answered": 60}
    put_engine(tmp_path, "a", **ended)
    alive = {"begun": NOW - 3610, "updated": NOW - 10, "answered": 40, "ended": False}
    put_engine(tmp_path, "b", **alive)
    put_engine(tmp_path, "killed", begun=NOW - 900, updated=NOW - 900, ended=False, answered=0)
    overview = study_overview(tmp_path, NOW)
    document = report_document(overview)
    assert document["stages"]["deliberation alpha"]["gpu_hours"] == pytest.approx(8)
    assert document["engines"] == {"running": 1, "gpus": 4}
    assert overview.estimate.engine_hours == pytest.approx(6)
    assert overview.estimate.gpu_hours == pytest.approx(24)
    assert overview.estimate.hours == pytest.approx(6)
    text = "\n".join(report_lines(overview))
    assert "1 up with 4 GPUs on n1" in text
    assert "about 6 h 0 min with the engines that are up, about 24.0 GPU-hours" in text


def test_failures_are_counted_by_reason(tmp_path: Path) -> None:
    note(tmp_path, stage())
    put_status(tmp_path, "00000-00003", state="stopped", failed={"timeout": 3})
    put_status(tmp_path, "00004-00007", state="stopped", failed={"timeout": 1, "http_500": 2})
    lines = report_lines(study_overview(tmp_path, NOW))
    assert "Failed   deliberation alpha: timeout ×4, http_500 ×2" in lines


def test_damaged_and_vanished_files_are_absent(tmp_path: Path) -> None:
    note(tmp_path, stage())
    put_status(tmp_path, "00000-00003", state="done")
    (tmp_path / "journal" / ALPHA / "00004-00007.status").write_text('{"state": "do')
    (tmp_path / "journal" / ALPHA / "00008-00011.status").symlink_to("nowhere")
    put_engine(tmp_path, "a")
    (tmp_path / "status" / "b.json").write_text("[]")
    assert counts(study_overview(tmp_path, NOW)) == (1, 0, 3)


def test_a_plan_comes_back_as_written_and_a_missing_one_is_said(tmp_path: Path) -> None:
    note(tmp_path, stage(), stage("audits/x/sums", problems=None))
    assert read_plan(tmp_path).stages == (stage(), stage("audits/x/sums", problems=None))
    with pytest.raises(RecordsError, match="first `snakemake` run"):
        read_plan(tmp_path / "other")
    (tmp_path / "status" / "plan.json").write_text('{"study": 1}')
    with pytest.raises(RecordsError, match="cannot be read"):
        read_plan(tmp_path)


def put_study(name: str, begun: float, *, is_finished: bool = False) -> None:
    """Note a study below ``results`` that was run at a time."""
    folder = Path("results", name)
    write_plan(StudyPlan(name, 180.0, (stage(),), ("config/x.yaml",), "polaris"), folder)
    if is_finished:
        for shard in ("00000-00003", "00004-00007", "00008-00011", "00012-00015"):
            put_status(folder, shard, state="done", problems_done=4, answered=100)
        for made in ("records", "tables", "figures"):
            (folder / made).mkdir()
        (folder / "records" / "versions.json").touch()
    os.utime(folder / "status" / "plan.json", (begun, begun))


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "results"


def test_all_studies_are_shown_the_latest_last(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["status"]) == 2
    assert "no study has been run here" in capsys.readouterr().err
    put_study("latest", 3000)
    put_study("ready", 2000, is_finished=True)
    put_study("early", 1000)
    (results / "older" / "tables").mkdir(parents=True)
    assert main(["status"]) == 0
    said = capsys.readouterr().out.splitlines()
    heads = [line for line in said if line.startswith("Study ")]
    assert heads[0].startswith("Study older: not known, results/older/status/plan.json: no such")
    assert heads[1] == "Study ready: finished, 4 shards, 400 requests answered, 0 failed, 0.0 GPU-h"
    assert [head.partition(",")[0] for head in heads[2:]] == ["Study early", "Study latest"]
    assert sum(line.startswith("deliberation alpha") for line in said) == 2


def test_one_study_is_shown_as_a_whole(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put_study("ready", 2000, is_finished=True)
    put_study("other", 2000)
    assert main(["status", "--study", "ready"]) == 0
    said = capsys.readouterr().out
    assert "Left     nothing to ask" in said
    assert "other" not in said
    assert main(["status", "--json"]) == 0
    assert {one["study"] for one in json.loads(capsys.readouterr().out)} == {"ready", "other"}
    assert main(["status", "--json", "--study", "other"]) == 0
    assert json.loads(capsys.readouterr().out)["study"] == "other"


def test_a_study_without_its_results_is_not_finished(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All shards are done, but collect_records crashed."""
    put_study("ready", 2000, is_finished=True)
    put_study("crashed", 3000, is_finished=True)
    folder = results / "crashed"
    (folder / "records" / "versions.json").unlink()
    (folder / "logs").mkdir()
    (folder / "logs" / "collect_records.log").write_text("ValueError: merge")
    assert main(["status"]) == 0
    said = capsys.readouterr().out
    assert "Study crashed: finished" not in said
    assert "Left     nothing to ask" in said
    assert (
        "Results  no records yet in results/crashed/records/; see "
        "results/crashed/logs/collect_records.log; `" in said
    )
    assert "--configfile config/x.yaml` makes them" in said
    assert main(["status", "--json", "--study", "crashed"]) == 0
    assert json.loads(capsys.readouterr().out)["finished"] is False


def test_messages_that_are_lacking_are_counted_by_reason(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put_study("other", 1000)
    put_study("s", 2000, is_finished=True)
    rows = {"model": "m", "problem_uid": "p", "status": "failed", "reason": "no_roster: cut"}
    path = results / "s" / "bundles" / ALPHA / "0000.messages.parquet"
    path.parent.mkdir(parents=True)
    pd.DataFrame([rows] * 5).to_parquet(path)
    (path.parent / "0001.messages.parquet").write_text("cut short")
    reasons = "m: no messages for 1 of 1 problem: no_roster (cut) ×1; see decoding.recruiter"
    assert main(["status", "--study", "s"]) == 0
    assert f"Lacking  {reasons}" in capsys.readouterr().out
    assert main(["status"]) == 0
    assert f"0 failed, 0.0 GPU-h\n  {reasons}" in capsys.readouterr().out


@pytest.mark.parametrize(("made", "job"), [("tables", "make_tables"), ("figures", "make_figures")])
def test_lacking_tables_and_figures_are_said(results: Path, made: str, job: str) -> None:
    put_study("s", 2000, is_finished=True)
    folder = results / "s"
    assert study_overview(folder).is_finished
    (folder / made).rmdir()
    (folder / "logs").mkdir()
    (folder / "logs" / f"{job}.log").write_text("error")
    overview = study_overview(folder)
    assert overview.is_asked
    assert not overview.is_finished
    assert f"no {made} yet in {folder / made}/; see {folder}/logs/{job}.log" in overview.lacking


def test_a_study_goes_on_with_its_own_config_and_profile(results: Path) -> None:
    put_study("s", 1000)
    command = rerun_command(results / "s")
    assert command is not None
    assert command.endswith("snakemake --profile polaris --configfile config/x.yaml")
    assert rerun_command(results / "other") is None
    for name, study in {"a": "third", "b": "other", "models": None}.items():
        path = Path("config", f"{name}.yaml")
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}" if study is None else f"study: {study}\n")
    command = rerun_command(results / "other")
    assert command is not None
    assert command.endswith("snakemake --profile profiles/local --configfile config/b.yaml")


def test_a_plan_notes_how_it_is_run(results: Path) -> None:
    plan = StudyPlan("s", 180.0).run_with([Path.cwd() / "my.yaml", Path("/far/b.yaml")], "slurm")
    write_plan(plan, results / "s")
    assert read_plan(results / "s") == plan
    assert (plan.configs, plan.profile) == (("my.yaml", "/far/b.yaml"), "slurm")
    assert profile_of(["snakemake", "--profile", "polaris", "-n"]) == "polaris"
    assert profile_of(["snakemake", "--profile=profiles/local"]) == "profiles/local"
    assert profile_of(["snakemake", "all"]) == ""


def test_two_thousand_shards_take_less_than_two_seconds(tmp_path: Path) -> None:
    shards = [f"{n:05d}-{n + 3:05d}" for n in range(0, 8000, 4)]
    bundles = tuple(
        BundlePlan(f"{n:04d}", tuple(shards[n * 8 : n * 8 + 8]), (f"bundles/{ALPHA}/{n}.parquet",))
        for n in range(250)
    )
    note(tmp_path, stage(bundles=bundles, problems=8000.0))
    journals = tmp_path / "journal" / ALPHA
    journals.mkdir(parents=True)
    done = {"stage": ALPHA, "settings": "abc", "state": "done", "problems": 4, "answered": 100}
    for name in shards:
        (journals / f"{name}.status").write_text(json.dumps(done))
    for name in shards[:100]:
        put_owner(journals / name, NOW)
    for n in range(1000):
        put_engine(tmp_path, str(n), begun=NOW - 9, updated=NOW, answered=9)
    lacking = {"model": "m", "problem_uid": "p", "status": "failed", "reason": "timeout"}
    rows = pd.DataFrame([lacking] * 800)
    for bundle, kind in product(bundles, ("messages", "outcomes")):
        put_output(tmp_path, bundle.name, kind=kind)
        rows.to_parquet(tmp_path / "bundles" / ALPHA / f"{bundle.name}.{kind}.parquet")
    # Time of the processor: other tests run beside this one.
    begun = time.process_time()
    overview = study_overview(tmp_path, NOW)
    assert time.process_time() - begun < 2
    assert counts(overview) == (2000, 0, 0)
    assert (
        overview.failures[1] == "m: 200,000 of 200,000 outcomes lacking: failed (timeout) ×200,000"
    )
