"""A job of several engines on several nodes: shared shards, deaths, stops, and the walltime."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from dhd.config.load import load_study_file
from dhd.layout import StudyPaths
from dhd.stages.interim import read_interim
from dhd.stages.prepare import prepare_problems
from support.studies import (
    SCRIPTED,
    finished_more_than_once,
    journal_lines,
    snakemake,
    write_config,
    write_problems,
)

pytestmark = pytest.mark.workflow

SUPPORT = Path(__file__).resolve().parents[1] / "support"
SHARDS, IN_FLIGHT, ENGINES, NODES = 8, 8, 2, 2


@dataclass
class RankStudy:
    """A scripted study of one bundle in a folder of its own."""

    folder: Path

    @property
    def paths(self) -> StudyPaths:
        return StudyPaths(self.folder / "results" / "scripted")

    def start(
        self, nodes: int = NODES, seconds: float = 0, **environment: str
    ) -> subprocess.Popen[bytes]:
        """Start the leader."""
        command = [sys.executable, str(SUPPORT / "rank_job.py"), "config.yaml", "site.yaml"]
        source = SUPPORT.parents[1] / "src"
        variables = {
            "PYTHONPATH": f"{source}{os.pathsep}{SUPPORT / 'asked'}",
            "DHD_ASKED_LOG": str(self.folder / "asked.log"),
            **environment,
        }
        with (self.folder / "leader.log").open("ab") as log:
            return subprocess.Popen(
                [*command, str(nodes), str(seconds)],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                env=os.environ | variables,
            )

    def run(self, **options: Any) -> int:
        return self.start(**options).wait(180)

    def log(self) -> str:
        return (self.folder / "leader.log").read_text()

    def asked(self) -> list[tuple[str, str, str]]:
        """Return (worker, pid, key) of every request that an engine got."""
        log = self.folder / "asked.log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [(one[0], one[1], one[2]) for one in map(str.split, lines)]

    def asked_again(self) -> int:
        counts = Counter(key for _, _, key in self.asked())
        return sum(count - 1 for count in counts.values())

    def tables(self) -> list[object]:
        stem = self.paths.bundle("deliberation", "alpha", "sums")
        return [
            read_interim(kind, stem / f"0000.{kind}.parquet") for kind in ("messages", "outcomes")
        ]

    def owners(self) -> list[dict[str, Any]]:
        """Return who works on shards now."""
        found = []
        for path in self.paths.journals("deliberation", "alpha", "sums").glob("*.owner"):
            with contextlib.suppress(OSError, ValueError):
                found.append(json.loads(path.read_text()))
        return found

    def statuses(self) -> list[dict[str, Any]]:
        folder = self.paths.journals("deliberation", "alpha", "sums")
        return [json.loads(path.read_text()) for path in sorted(folder.glob("*.status"))]

    def processes(self, module: str) -> list[int]:
        """Return the processes of this study that run a module."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                words = path.read_bytes().decode().split("\0")
                if words[1:3] == ["-m", module] and words[3].startswith(str(self.folder)):
                    found.append(int(path.parent.name))
        return found


def make_study(folder: Path, project_root: Path, latency_s: float, **journal: float) -> RankStudy:
    folder.mkdir()
    write_problems(folder / "problems.jsonl", 3 * SHARDS)
    model = {
        "engine": "scripted",
        "max_in_flight": IN_FLIGHT,
        "latency_s": latency_s,
        "engines_per_node": ENGINES,
    }
    (folder / "models.yaml").write_text(yaml.safe_dump({"models": {"m": model}}))
    config = SCRIPTED | {
        "models_file": str(folder / "models.yaml"),
        "families": {"alpha": {"actor": "m"}},
        "benchmarks": {"sums": {"loader": "user", "path": str(folder / "problems.jsonl")}},
        "judging": {"method": "rules"},
        "shards": {"problems": 3},
        "bundles": {"deliberation_shards": SHARDS // NODES},
        "journal": {"walltime_margin_s": 20.0, "longest_request_s": 1.0} | journal,
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    site = {
        "scheduler": "slurm",
        "queue": "test",
        "nodes": NODES,
        "walltime": "00:10:00",
        "gpus_per_node": 1,
        "gpu_memory_gb": 1,
        "launcher": f"{sys.executable} {SUPPORT / 'launcher.py'} {{nodes}}",
    }
    (folder / "site.yaml").write_text(yaml.safe_dump(site))
    study = load_study_file(folder / "config.yaml", root=project_root)
    out = folder / StudyPaths.of("scripted").problems("sums")
    prepare_problems(study, "sums", folder / "problems.jsonl", out)
    return RankStudy(folder)


def eventually(what: Callable[[], object], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory, project_root: Path) -> RankStudy:
    """Run the study once, undisturbed, by four workers on two nodes."""
    study = make_study(tmp_path_factory.mktemp("ranks") / "calm", project_root, 0.1)
    assert study.run() == 0, study.log()
    return study


@pytest.fixture
def study(tmp_path: Path, project_root: Path) -> Iterator[RankStudy]:
    """Return the same study with nothing done yet; nothing of it may be left running."""
    made = make_study(tmp_path / "study", project_root, 0.1)
    yield made
    eventually(lambda: not made.processes("dhd.ranks.node") + made.processes("dhd.ranks.worker"))


def test_workers_of_two_nodes_share_a_bundle_and_ask_nothing_twice(calm: RankStudy) -> None:
    assert calm.asked_again() == 0
    assert {worker for worker, _, _ in calm.asked()} == {"0", "1", "2", "3"}
    assert {line["key"] for line in journal_lines(calm.folder)} == {key for *_, key in calm.asked()}
    assert not finished_more_than_once(calm.folder)
    assert not list(calm.paths.runs().rglob("*.json"))


def test_tables_are_those_of_one_process(calm: RankStudy, study: RankStudy) -> None:
    models = yaml.safe_load((study.folder / "models.yaml").read_text())
    models["models"]["m"] |= {"engines_per_node": None, "latency_s": 0.0}
    (study.folder / "models.yaml").write_text(yaml.safe_dump(models))
    assert study.run(nodes=1) == 0, study.log()
    assert {worker for worker, _, _ in study.asked()} == {"-"}
    assert study.tables() == calm.tables()


def test_status_files_say_what_was_done(calm: RankStudy) -> None:
    statuses = calm.statuses()
    assert len(statuses) == SHARDS
    assert {(one["state"], one["problems_done"], one["settings"]) for one in statuses} == {
        ("done", 3, "digest")
    }
    assert sum(one["answered"] for one in statuses) == len(journal_lines(calm.folder))
    engines = [json.loads(path.read_text()) for path in calm.paths.status().glob("*.json")]
    assert len(engines) == 4
    assert all(one["ended"] and one["stage"] == "deliberation/alpha/sums" for one in engines)
    assert sum(one["answered"] for one in engines) == len(calm.asked())


def test_a_bundle_whose_journals_are_full_starts_no_rank(calm: RankStudy) -> None:
    before, tables = calm.asked(), calm.tables()
    shutil.rmtree(calm.paths.folder / "bundles")
    logged = len(calm.log())
    assert calm.run() == 0
    assert calm.asked() == before
    assert calm.tables() == tables
    assert "on each" not in calm.log()[logged:]


def test_several_engines_of_one_node_need_no_launcher(calm: RankStudy, study: RankStudy) -> None:
    site = yaml.safe_load((study.folder / "site.yaml").read_text())
    (study.folder / "site.yaml").write_text(
        yaml.safe_dump(site | {"launcher": None, "nodes": 1}, sort_keys=False)
    )
    config = yaml.safe_load((study.folder / "config.yaml").read_text())
    config["bundles"] = {"deliberation_shards": SHARDS}
    (study.folder / "config.yaml").write_text(yaml.safe_dump(config))
    assert study.run(nodes=1) == 0, study.log()
    assert {worker for worker, _, _ in study.asked()} == {"0", "1"}
    assert study.tables() == calm.tables()


def test_what_the_journals_hold_counts_whatever_workers_noted(
    calm: RankStudy, study: RankStudy
) -> None:
    script = study.folder / "forgetful.sh"
    script.write_text(
        f'{sys.executable} {SUPPORT / "launcher.py"} "$@"\n'
        "for last; do :; done\n"
        'rm "$last"/finished/*\n'
        "exit 3\n"
    )
    site = yaml.safe_load((study.folder / "site.yaml").read_text())
    (study.folder / "site.yaml").write_text(
        yaml.safe_dump(site | {"launcher": f"sh {script} {{nodes}}"}, sort_keys=False)
    )
    assert study.run() == 0, study.log()
    assert study.asked_again() == 0
    assert study.tables() == calm.tables()


def test_a_straggler_idles_nobody(calm: RankStudy, study: RankStudy) -> None:
    assert study.run(DHD_SLOW_WORKER="0", DHD_SLOW_S="1.5") == 0, study.log()
    by_worker = Counter(worker for worker, _, _ in study.asked())
    share = sum(by_worker.values()) / 4
    assert by_worker["0"] < 0.7 * share
    assert study.asked_again() == 0
    assert study.tables() == calm.tables()


def test_the_others_finish_what_a_killed_worker_leaves(calm: RankStudy, study: RankStudy) -> None:
    leader = study.start()
    eventually(lambda: len(study.asked()) > 100 and study.owners())
    os.kill(study.owners()[0]["pid"], signal.SIGKILL)
    assert leader.wait(120) == 0, study.log()
    assert "was killed by SIGKILL" in study.log()
    assert study.asked_again() <= IN_FLIGHT
    assert not finished_more_than_once(study.folder)
    assert study.tables() == calm.tables()


def test_the_others_finish_what_a_killed_node_leaves(calm: RankStudy, study: RankStudy) -> None:
    leader = study.start()
    eventually(lambda: len(study.asked()) > 100)
    os.kill(study.processes("dhd.ranks.node")[0], signal.SIGKILL)
    assert leader.wait(120) == 0, study.log()
    assert study.asked_again() <= ENGINES * IN_FLIGHT
    assert not finished_more_than_once(study.folder)
    assert study.tables() == calm.tables()


def test_sigterm_finishes_what_is_in_flight_and_a_rerun_asks_the_rest(
    calm: RankStudy, study: RankStudy
) -> None:
    leader = study.start()
    eventually(lambda: len(study.asked()) > 100)
    leader.terminate()
    assert leader.wait(60) == 1
    assert "stopped by SIGTERM" in study.log()
    assert {key for *_, key in study.asked()} == {
        line["key"] for line in journal_lines(study.folder)
    }
    assert len(study.asked()) < len(calm.asked())
    assert not study.owners()
    assert "stopped" in {one["state"] for one in study.statuses()}
    assert study.run() == 0, study.log()
    assert study.asked_again() == 0
    assert study.tables() == calm.tables()


def test_a_job_stops_by_itself_before_its_walltime_ends(calm: RankStudy, study: RankStudy) -> None:
    slow = {"DHD_SLOW_WORKER": "0", "DHD_SLOW_S": "60"}
    begun = time.monotonic()
    assert study.run(seconds=15, **slow) == 1
    assert 14 < time.monotonic() - begun < 50
    assert "the ranks ended with" in study.log()
    assert "was killed" not in study.log()
    assert not study.owners()
    assert study.run() == 0, study.log()
    assert study.asked_again() <= IN_FLIGHT
    assert study.tables() == calm.tables()


def test_ranks_end_with_their_leader(calm: RankStudy, study: RankStudy) -> None:
    leader = study.start()
    eventually(lambda: len(study.asked()) > 100)
    leader.kill()
    leader.wait()
    eventually(lambda: not study.processes("dhd.ranks.worker"))
    assert study.run() == 0, study.log()
    assert study.asked_again() <= NODES * ENGINES * IN_FLIGHT
    assert study.tables() == calm.tables()


def whole_study(folder: Path, engines: int | None) -> Path:
    """Run a study of all stages, each job with so many engines; return its records."""
    folder.mkdir()
    models = {
        name: {"engine": "scripted", "name": name, "engines_per_node": engines}
        for name in ("a", "judge", "other")
    }
    (folder / "models.yaml").write_text(yaml.safe_dump({"models": models}))
    config = write_config(
        folder,
        models_file=str(folder / "models.yaml"),
        families={"alpha": {"actor": "a"}},
        judging={"method": "llm", "evaluator": "judge"},
        bundles=dict.fromkeys(
            ("deliberation_shards", "judging_shards", "replay_shards", "protocol_shards"), 9
        ),
        studies={
            "repeats": {"problems": 4, "blocks": 2},
            "protocols": {"problems": 2},
            "evaluators": {"models": ["judge", "other"], "submissions": 20, "triplets": 4},
        },
    )
    snakemake(folder, config, "records")
    return folder / "results" / "scripted" / "records"


def test_every_stage_ends_as_in_one_process(tmp_path: Path) -> None:
    one, several = whole_study(tmp_path / "one", None), whole_study(tmp_path / "several", 2)
    logs = (several.parent / "logs").rglob("*.worker-*.log")
    assert {path.relative_to(several.parent / "logs").parts[0] for path in logs} == {
        "deliberate_bundle",
        "judge_bundle",
        "replay_bundle",
        "run_protocols",
        "audit_benchmark",
    }
    for name in ("problems", "messages", "outcomes", "evaluations", "protocol_runs"):
        expected = pd.read_parquet(one / f"{name}.parquet")
        pd.testing.assert_frame_equal(pd.read_parquet(several / f"{name}.parquet"), expected)
    assert not finished_more_than_once(tmp_path / "several")
    assert Counter(line["key"] for line in journal_lines(tmp_path / "several")) == Counter(
        line["key"] for line in journal_lines(tmp_path / "one")
    )
