"""Locks of journals: one writer a shard, on one host and on several."""

import errno
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from dhd.errors import JournalError
from dhd.journal import Journal, ShardLock
from dhd.journal.lock import Owner, forget_dead_owner
from support.completions import ok


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shard" / "00000-00015.jsonl"


def test_a_writer_that_wakes_after_its_shard_was_taken_over_writes_nothing(path: Path) -> None:
    lock = ShardLock(path, stale_after_s=600)  # its heartbeat comes too late to notice
    assert lock.acquire()
    journal = Journal(path, guard=lock.check)
    journal.append([ok("a")])
    owner = path.with_suffix(".owner")
    mine = owner.read_bytes()
    lock._confirmed_s -= 301
    os.utime(owner, (time.time() - 301,) * 2)
    journal.append([ok("b")])
    assert time.time() - owner.stat().st_mtime < 60, "it shows that it is awake"
    owner.write_text(json.dumps({"host": "x3001", "pid": 1, "job": "", "token": "t"}))
    lock._confirmed_s -= 301
    with pytest.raises(JournalError, match="took this shard over"):
        journal.append([ok("c")])
    owner.write_bytes(mine)
    lock.release()
    journal.close()
    assert len(Journal(path)) == 2


@pytest.mark.parametrize(("age_s", "free"), [(5, False), (300, True)])
def test_without_flock_a_running_process_of_the_owners_number_is_not_the_owner_for_ever(
    path: Path, monkeypatch: pytest.MonkeyPatch, age_s: int, free: bool
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", refuse)
    path.parent.mkdir()
    owner = path.with_suffix(".owner")
    mine = Owner.this_process()
    owner.write_text(json.dumps({name: getattr(mine, name) for name in Owner.__slots__}))
    os.utime(owner, (time.time() - age_s,) * 2)
    lock = ShardLock(path)
    assert lock.acquire() == free
    lock.release()


def assert_excludes_a_second_writer(path: Path) -> None:
    first, second = ShardLock(path), ShardLock(path)
    assert first.acquire()
    assert not second.acquire()
    first.release()
    assert second.acquire()
    second.release()
    first.release()


def test_a_lock_excludes_a_second_writer(path: Path) -> None:
    assert_excludes_a_second_writer(path)


def test_a_killed_writer_leaves_the_shard_free(path: Path) -> None:
    code = f"""
import os, signal
from pathlib import Path
from dhd.journal import ShardLock
assert ShardLock(Path({str(path)!r})).acquire()
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", code], check=False)
    assert path.with_suffix(".owner").exists()
    lock = ShardLock(path)
    assert lock.acquire()
    lock.release()
    assert not path.with_suffix(".owner").exists()


@pytest.mark.parametrize(("age_s", "free"), [(5, False), (300, True)])
def test_another_hosts_heartbeat_stands_in_for_flock(path: Path, age_s: int, free: bool) -> None:
    path.parent.mkdir()
    owner = path.with_suffix(".owner")
    owner.write_text(json.dumps({"host": "x3001", "pid": 1, "job": "7.pbs", "token": "t"}))
    os.utime(owner, (time.time() - age_s,) * 2)
    lock = ShardLock(path, stale_after_s=180)
    assert lock.acquire() == free
    lock.release()


def test_a_writer_notices_that_it_was_replaced(path: Path) -> None:
    lock = ShardLock(path, stale_after_s=0.12)
    assert lock.acquire()
    lock.check()
    owner = path.with_suffix(".owner")
    owner.write_text(json.dumps({"host": "x3001", "pid": 1, "job": "", "token": "t"}))
    time.sleep(0.2)
    with pytest.raises(JournalError, match="took this shard over"):
        lock.check()
    lock.release()
    assert owner.exists()


class HostWithoutFlock:
    """A host whose ``flock`` excludes nobody on other hosts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
        monkeypatch.setattr("fcntl.flock", lambda *_: None)
        self._path = path

    def lock(self, host: str) -> ShardLock:
        lock = ShardLock(self._path, stale_after_s=180)
        lock._owner = replace(lock._owner, host=host)
        return lock


@pytest.mark.parametrize("is_left_over", [False, True])
def test_of_many_hosts_that_want_one_shard_at_once_one_gets_it(
    path: Path, monkeypatch: pytest.MonkeyPatch, is_left_over: bool
) -> None:
    hosts = HostWithoutFlock(monkeypatch, path)
    path.parent.mkdir()
    owner = path.with_suffix(".owner")
    for _ in range(10):
        if is_left_over:
            owner.write_text(json.dumps({"host": "dead", "pid": 1, "job": "", "token": "t"}))
            os.utime(owner, (time.time() - 300,) * 2)
        locks = [hosts.lock(f"x{n}") for n in range(12)]
        with ThreadPoolExecutor(len(locks)) as threads:
            got = list(threads.map(ShardLock.acquire, locks))
        assert sum(got) == 1
        assert {one.suffix for one in path.parent.iterdir()} == {".lock", ".owner"}
        locks[got.index(True)].release()
        assert not owner.exists()


def test_a_writer_that_was_replaced_leaves_its_heirs_file_alone(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = HostWithoutFlock(monkeypatch, path)
    suspended, heir = hosts.lock("x1"), hosts.lock("x2")
    assert suspended.acquire()
    os.utime(path.with_suffix(".owner"), (time.time() - 300,) * 2)
    assert heir.acquire()
    suspended.release()
    assert path.with_suffix(".owner").exists()
    heir.release()


def test_without_flock_the_owner_file_alone_decides(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", refuse)
    assert_excludes_a_second_writer(path)


def test_a_dead_workers_shard_is_freed_and_no_other(path: Path) -> None:
    lock = ShardLock(path)
    assert lock.acquire()
    forget_dead_owner(path, os.getpid() + 1)
    assert path.with_suffix(".owner").exists()
    forget_dead_owner(path, os.getpid())
    assert not path.with_suffix(".owner").exists()
    lock.release()
