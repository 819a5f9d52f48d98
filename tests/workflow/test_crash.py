"""A generation job that is killed again and again ends as if nothing had happened."""

import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import yaml

from dhd.config.load import load_study_file
from dhd.layout import StudyPaths
from dhd.stages.interim import read_interim
from dhd.stages.prepare import prepare_problems
from support.studies import SCRIPTED, finished_more_than_once, journal_lines, write_problems

JOB = Path(__file__).resolve().parents[1] / "support" / "crash_job.py"
KILLS = 20
IN_FLIGHT = 8


def study_folder(folder: Path, project_root: Path, *, latency_s: float) -> Path:
    """Make a folder with a scripted study of 24 problems in 6 shards and one bundle."""
    folder.mkdir()
    write_problems(folder / "problems.jsonl", 24)
    model = {"engine": "scripted", "max_in_flight": IN_FLIGHT, "latency_s": latency_s}
    (folder / "models.yaml").write_text(yaml.safe_dump({"models": {"m": model}}))
    config = SCRIPTED | {
        "models_file": str(folder / "models.yaml"),
        "families": {"alpha": {"actor": "m"}},
        "benchmarks": {"sums": {"loader": "user", "path": str(folder / "problems.jsonl")}},
        "judging": {"method": "rules"},
        "bundles": {"deliberation_shards": 6},
    }
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(config))
    study = load_study_file(path, root=project_root)
    out = folder / StudyPaths.of("scripted").problems("sums")
    prepare_problems(study, "sums", folder / "problems.jsonl", out)
    return path


def start(config: Path) -> subprocess.Popen[bytes]:
    """Start the job in the study's folder."""
    folder = config.parent
    command = [sys.executable, str(JOB), str(config), "alpha", "sums", "0000", "asked.log"]
    with (folder / "err.log").open("wb") as log:
        return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=log)


def tables(config: Path) -> list[object]:
    """Return the bundle's two tables without token counts of the prefix cache."""
    stem = config.parent / StudyPaths.of("scripted").bundle("deliberation", "alpha", "sums")
    return [read_interim(kind, stem / f"0000.{kind}.parquet") for kind in ("messages", "outcomes")]


def asked(config: Path) -> Counter[str]:
    """Return how often each request was handed to an engine."""
    log = config.parent / "asked.log"
    return Counter(log.read_text().split()) if log.exists() else Counter()


@pytest.mark.workflow
def test_twenty_kills_lose_nothing_and_ask_nothing_finished_again(
    tmp_path: Path, project_root: Path
) -> None:
    calm = study_folder(tmp_path / "calm", project_root, latency_s=0.0)
    assert start(calm).wait(60) == 0
    config = study_folder(tmp_path / "killed", project_root, latency_s=0.05)
    rng = random.Random(11)
    kills = lost = 0
    while kills < KILLS:
        before = sum(asked(config).values())
        job = start(config)
        deadline = time.monotonic() + 30
        while sum(asked(config).values()) <= before and time.monotonic() < deadline:
            time.sleep(0.01)
            assert job.poll() in (None, 0), (config.parent / "err.log").read_text()
        time.sleep(rng.uniform(0, 0.3))
        job.kill()
        job.wait()
        kills += 1
        lost += IN_FLIGHT
        finished = {line["key"] for line in journal_lines(config.parent)}
        assert not finished_more_than_once(config.parent)
        if len(finished) == len(asked(calm)):
            shutil.rmtree(config.parent / "results" / "scripted" / "journal")
            (config.parent / "asked.log").unlink()
            lost = 0
    assert start(config).wait(60) == 0, (config.parent / "err.log").read_text()
    assert tables(config) == tables(calm)
    assert not finished_more_than_once(config.parent)
    again = sum(count - 1 for count in asked(config).values())
    assert set(asked(config)) == set(asked(calm))
    assert again <= lost


@pytest.mark.workflow
def test_a_finished_bundle_is_written_again_without_asking(
    tmp_path: Path, project_root: Path
) -> None:
    config = study_folder(tmp_path / "study", project_root, latency_s=0.0)
    assert start(config).wait(60) == 0
    before, first = asked(config), tables(config)
    shutil.rmtree(config.parent / "results" / "scripted" / "bundles")
    assert start(config).wait(60) == 0
    assert asked(config) == before
    assert tables(config) == first


@pytest.mark.workflow
def test_two_jobs_on_one_bundle_share_the_work_and_ask_nothing_twice(
    tmp_path: Path, project_root: Path
) -> None:
    config = study_folder(tmp_path / "study", project_root, latency_s=0.02)
    jobs = [start(config), start(config)]
    assert [job.wait(90) for job in jobs] == [0, 0]
    assert set(asked(config).values()) == {1}
    assert not finished_more_than_once(config.parent)
