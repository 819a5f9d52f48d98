"""Files that a crash, a full disk or a wrong clock left behind: nothing is lost by them."""

from __future__ import annotations

import errno
import json
import os
import time
from pathlib import Path

import pytest

from dhd.errors import EngineError, JournalError
from dhd.journal import Journal, ShardLock, Witness, lock
from dhd.journal.holders import journals_of_problems, note_problems
from dhd.ranks import run_folder
from dhd.ranks.run_folder import RunFolder
from dhd.stages import tries
from dhd.stages.tries import tries_with_progress


class Clock:
    """Stands in for this process's own clock."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return time.time()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in (lock, run_folder):
        monkeypatch.setattr(module, "time", clock)
    return clock


@pytest.mark.parametrize(
    "content", [b"", b'["p1", ', b"\0\0\0\0", b"\xff\xfe", b"[[1]]", b'{"p1": 1}', b"[1, 2]", b"7"]
)
def test_a_journal_whose_note_is_spoilt_may_hold_requests_of_any_problem(
    tmp_path: Path, content: bytes
) -> None:
    spoilt, sound = tmp_path / "00000-00015.jsonl", tmp_path / "00016-00031.jsonl"
    spoilt.with_suffix(".0123456789abcdef.problems").write_bytes(content)
    note_problems(sound, ["p9"])
    holders = journals_of_problems(tmp_path)
    assert holders.of("p1") == {spoilt}
    assert holders.of("p9") == {spoilt, sound}


def test_a_note_that_may_not_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "00000-00015.problems").mkdir()
    with pytest.raises(JournalError, match=r"00000-00015\.problems: cannot be read"):
        journals_of_problems(tmp_path)


def owned_elsewhere(journal: Path, *, age_s: float) -> Path:
    journal.parent.mkdir(exist_ok=True)
    owner = journal.with_suffix(".owner")
    owner.write_text(json.dumps({"host": "x3001", "pid": 1, "job": "7.pbs", "token": "t"}))
    os.utime(owner, (time.time() - age_s,) * 2)
    return owner


def test_a_dead_host_whose_clock_was_ahead_blocks_a_shard_no_longer_than_another(
    tmp_path: Path, clock: Clock
) -> None:
    journal, witness = tmp_path / "a.jsonl", Witness()
    owned_elsewhere(journal, age_s=-86400)
    for seconds, free in ((0, False), (179, False), (1, True)):
        clock.now += seconds
        taken = ShardLock(journal, stale_after_s=180, witness=witness)
        assert taken.acquire() == free
    taken.release()


def test_a_live_host_whose_clock_is_ahead_keeps_its_shard(tmp_path: Path, clock: Clock) -> None:
    journal, witness = tmp_path / "a.jsonl", Witness()
    owner = owned_elsewhere(journal, age_s=-86400)
    for beat in range(10):
        clock.now += 60
        os.utime(owner, (time.time() + 86400 + 60 * beat,) * 2)
        assert not ShardLock(journal, stale_after_s=180, witness=witness).acquire()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"host": "x"}', b"\xff"])
def test_an_unreadable_owner_file_voids_itself_with_time(tmp_path: Path, content: bytes) -> None:
    journal = tmp_path / "a.jsonl"
    owner = journal.with_suffix(".owner")
    owner.write_bytes(content)
    assert not ShardLock(journal, stale_after_s=180).acquire()
    os.utime(owner, (time.time() - 181,) * 2)
    heir = ShardLock(journal, stale_after_s=180)
    assert heir.acquire()
    heir.release()
    assert not owner.exists()


@pytest.mark.parametrize("skew_s", [-86400, 0, 86400])
def test_ranks_heed_their_leader_whatever_its_nodes_clock_says(
    tmp_path: Path, clock: Clock, skew_s: int
) -> None:
    run = RunFolder(tmp_path)
    for beat in range(4):
        clock.now += 50
        (tmp_path / "leader").touch()
        os.utime(tmp_path / "leader", (time.time() + skew_s + beat,) * 2)
        assert not run.leader_is_gone(60)
    clock.now += 61
    assert run.leader_is_gone(60)


def test_a_half_made_folder_of_a_dead_run_is_removed_in_time(tmp_path: Path) -> None:
    half = tmp_path / "runs" / "half"
    half.mkdir(parents=True)
    with RunFolder.new(tmp_path / "runs", 1, 60):
        assert half.exists()
    os.utime(half, (time.time() - 3600,) * 2)
    with RunFolder.new(tmp_path / "runs", 1, 60):
        assert not half.exists()


def test_a_worker_whose_note_was_cut_within_a_letter_is_reported(tmp_path: Path) -> None:
    with RunFolder.new(tmp_path / "runs", 1, 60) as run:
        (run.path / "ended" / "0000").write_bytes("worker 0 failed: timeout ×".encode()[:-1])
        assert run.bad_ends() == ["worker 0 failed: timeout \ufffd"]


def test_a_disk_too_full_to_count_tries_does_not_hide_what_a_job_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tries, "replacing", refuse)
    with (
        pytest.raises(EngineError, match="no GPU here"),
        tries_with_progress(tmp_path / "tries.json", [], run="first"),
    ):
        raise EngineError("no GPU here")


def test_an_empty_journal_and_one_of_another_study_hold_no_answer(tmp_path: Path) -> None:
    empty = tmp_path / "a.jsonl"
    empty.touch()
    assert len(Journal(empty)) == 0
    other = tmp_path / "b.jsonl"
    other.write_text('{"key":"of-another-study","status":"ok","text":"4"}\n')
    assert Journal(other).find("of-this-study") is None
