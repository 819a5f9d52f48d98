"""The files in which a running job says what it does."""

import json
import time
from pathlib import Path

import pytest

from dhd.driver import (
    Reports,
)
from dhd.errors import IncompleteError
from support.echo_engine import EchoEngine, limited, work


def test_status_files_say_what_was_done(tmp_path: Path) -> None:
    fail = EchoEngine(fail=lambda text: "prompt_too_long" if text == "b" else None)
    shard = work(tmp_path, "s1", "a", "b", "c")
    reports = Reports("deliberation/oss/jeebench", "digest", tmp_path / "status")
    limited(fail, [shard], reports=reports)
    status = json.loads(shard.journal.with_suffix(".status").read_text())
    assert abs(status.pop("updated") - time.time()) < 60
    assert status == {
        "state": "done",
        "stage": "deliberation/oss/jeebench",
        "settings": "digest",
        "problems": 3,
        "problems_done": 3,
        "expected": None,
        "answered": 2,
        "failed": {"prompt_too_long": 1},
        "prompt_tokens": 0,
        "cached_tokens": 0,
        "completion_tokens": 0,
    }
    (path,) = (tmp_path / "status").glob("*.json")
    engine = json.loads(path.read_text())
    assert engine["begun"] <= engine["updated"]
    assert (engine["ended"], engine["answered"], engine["gpus"]) == (True, 2, 4)
    assert engine["model"] == "echo"


def test_a_stopped_shard_says_so_and_no_engine_leaves_no_engine_file(tmp_path: Path) -> None:
    shard = work(tmp_path, "s1", "a", "b")
    reports = Reports("stage", "", tmp_path / "status")
    with pytest.raises(IncompleteError):
        limited(EchoEngine(), [shard], reports=reports, deadline=time.time())
    status = json.loads(shard.journal.with_suffix(".status").read_text())
    assert (status["state"], status["problems_done"], status["answered"]) == ("stopped", 0, 0)
    assert not (tmp_path / "status").exists()


def test_a_status_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "status").write_text("a file where the folder should be")
    shard = work(tmp_path, "s1", "a")
    results, _ = limited(EchoEngine(), [shard], reports=Reports("x", "", tmp_path / "status"))
    assert results == {"s1": ["a"]}
