"""The journal: what it keeps, what it repairs, what it refuses."""

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
from dhd.journal.holders import journals_of_problems, note_problems
from dhd.journal.lock import Owner, forget_dead_owner
from dhd.requests import Completion


def ok(key: str, text: str = "17") -> Completion:
    return Completion(key=key, status="ok", text=text, completion_tokens=3, answered_by="m")


def failed(key: str, reason: str = "timeout") -> Completion:
    return Completion(key=key, status="failed", reason=reason, answered_by="m")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shard" / "00000-00015.jsonl"


def test_returns_what_was_appended(path: Path) -> None:
    rows = [ok("a", 'x = 1\n"y" \\frac{1}{2} ünï\u2028'), ok("b", ""), failed("c")]
    with Journal(path) as journal:
        journal.append(rows)
    with Journal(path, max_attempts=1) as journal:
        assert [journal.find(key) for key in "abc"] == rows
        assert len(path.read_bytes().splitlines()) == 3


def test_writes_nothing_before_the_first_append(path: Path) -> None:
    with Journal(path) as journal:
        assert journal.find("a") is None
    assert not path.exists()


def test_lone_surrogates_are_replaced_as_no_table_can_hold_them(path: Path) -> None:
    with Journal(path) as journal:
        journal.append([ok("a", "bad \ud800 text"), ok("b", "good 🙂")])
    with Journal(path) as journal:
        assert journal.find("a") == ok("a", "bad \ufffd text")
        assert journal.find("b") == ok("b", "good 🙂")


def test_outages_use_up_no_attempts(path: Path) -> None:
    with Journal(path, max_attempts=1) as journal:
        for reason in ("connection", "http_429", "http_503"):
            journal.append([failed("a", reason)])
            assert journal.find("a") is None
            assert journal.is_retryable("a")
        journal.append([failed("a", "timeout")])
        assert journal.find("a") == failed("a", "timeout")


@pytest.mark.parametrize("cut", ["mid line", "mid character", "newline only", "one byte left"])
def test_repairs_a_torn_tail_and_keeps_every_whole_line(path: Path, cut: str) -> None:
    with Journal(path) as journal:
        journal.append([ok("a"), ok("b", "größer")])
    content = path.read_bytes()
    first = content.index(b"\n") + 1
    end = {
        "mid line": first + 20,
        "mid character": content.index("ö".encode()) + 1,
        "newline only": len(content) - 1,
        "one byte left": first + 1,
    }[cut]
    path.write_bytes(content[:end])
    with Journal(path) as journal:
        assert journal.find("a") == ok("a")
        assert (journal.find("b") is not None) == (cut == "newline only")
        journal.append([ok("c")])
    lines = [json.loads(line)["key"] for line in path.read_bytes().splitlines()]
    assert lines == (["a", "b", "c"] if cut == "newline only" else ["a", "c"])


@pytest.mark.parametrize("tail", [b"\0" * 4096, b"\0" * 4096 + b"\n"])
def test_a_tail_of_zero_bytes_counts_as_torn(path: Path, tail: bytes) -> None:
    with Journal(path) as journal:
        journal.append([ok("a")])
    path.write_bytes(path.read_bytes() + tail)
    with Journal(path) as journal:
        journal.append([ok("b")])
    with Journal(path) as journal:
        assert journal.find("a") == ok("a")
        assert journal.find("b") == ok("b")


def test_refuses_a_damaged_line_in_the_middle(path: Path) -> None:
    with Journal(path) as journal:
        journal.append([ok("a"), ok("b")])
    first, second = path.read_bytes().splitlines()
    path.write_bytes(first[:10] + b"\n" + second + b"\n")
    with pytest.raises(JournalError, match=r"00000-00015\.jsonl: line 1 is damaged"):
        Journal(path)


@pytest.mark.parametrize(
    "line",
    [
        b"[]",
        b"7",
        b"[" * 100_000,
        b'{"key": "a", "status": "ok", "colour": 1}',
        b'{"key": 5, "status": "ok"}',
        b'{"key": "a", "status": "OK"}',
        b'{"key": "a", "status": "ok", "finish_reason": 7}',
        b'{"key": "a", "status": "ok", "prompt_tokens": "3"}',
    ],
)
def test_refuses_a_whole_line_that_is_no_completion(path: Path, line: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(line + b"\n" + line + b"\n")
    with pytest.raises(JournalError, match="line 1"):
        Journal(path)


def test_failures_are_asked_again_up_to_the_limit(path: Path) -> None:
    for attempt in range(1, 4):
        with Journal(path, max_attempts=3) as journal:
            assert journal.find("a") is None
            journal.append([failed("a")])
            assert journal.is_retryable("a") == (attempt < 3)
    with Journal(path, max_attempts=3) as journal:
        assert journal.find("a") == failed("a")
    with Journal(path, max_attempts=4) as journal:
        assert journal.find("a") is None


def test_a_permanent_failure_is_never_asked_again(path: Path) -> None:
    with Journal(path) as journal:
        journal.append([failed("a", "prompt_too_long")])
        assert journal.find("a") == failed("a", "prompt_too_long")
        assert not journal.is_retryable("a")


def test_a_later_success_replaces_a_failure_and_stays(path: Path) -> None:
    with Journal(path) as journal:
        journal.append([failed("a"), ok("a")])
        journal.append([failed("a")])
        assert journal.find("a") == ok("a")


def test_reads_journals_of_another_cut(path: Path) -> None:
    other = path.with_name("00000-00007.jsonl")
    with Journal(other) as journal:
        journal.append([ok("a")])
    with Journal(path, earlier=[other]) as journal:
        assert journal.find("a") == ok("a")
        journal.append([ok("b")])
    assert b'"a"' not in path.read_bytes()


def test_a_full_disk_is_an_error_that_leaves_whole_lines(path: Path) -> None:
    with Journal(path) as journal:
        journal.append([ok("a")])
    code = f"""
import resource, signal, sys
from pathlib import Path
from dhd.errors import JournalError
from dhd.journal import Journal
from dhd.requests import Completion
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
journal = Journal(Path({str(path)!r}))
try:
    for n in range(100):
        journal.append([Completion(key=f"k{{n}}", status="ok", text="x" * 300)])
except JournalError as error:
    print(error)
    sys.exit(3)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 3, result.stderr
    assert str(path) in result.stdout
    lines = path.read_bytes().split(b"\n")
    assert lines[-1] == b""
    assert [json.loads(line)["key"] for line in lines[:3]] == ["a", "k0", "k1"]


def test_what_another_added_since_the_journal_was_read_is_not_cut_off(path: Path) -> None:
    with Journal(path) as first:
        first.append([ok("a"), failed("f")])
    with path.open("ab") as torn:
        torn.write(b'{"key":"to')
    with Journal(path) as suspended:
        with Journal(path) as heir:
            heir.append([ok("b")])
        suspended.append([ok("c")])
        assert suspended.find("b") == ok("b")
        assert suspended.counts()["failed"] == {"timeout": 1}
    with Journal(path, max_attempts=2) as journal:
        assert [journal.find(key) for key in "abc"] == [ok(key) for key in "abc"]
        assert journal.is_retryable("f")


def test_a_writer_whose_write_failed_takes_nothing_of_anothers(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(path)
    journal.append([ok("a")])
    write = os.write

    def refuse(file: int, data: bytes) -> int:
        with path.open("ab") as other:
            other.write(b'{"key":"b","status":"ok"}\n')
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("os.write", refuse)
    with pytest.raises(JournalError, match="check the disk"):
        journal.append([ok("c")])
    monkeypatch.setattr("os.write", write)
    journal.close()
    assert len(Journal(path)) == 2


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


def test_notes_of_problems_add_up_whoever_writes_them(path: Path) -> None:
    path.parent.mkdir()
    path.with_suffix(".problems").write_text('["old"]')
    sets = [[f"p{n}", f"p{n + 1}"] for n in range(20)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda uids: note_problems(path, uids), sets))
    other = path.with_name("00016-00031.jsonl")
    note_problems(other, ["p3"])
    holders = journals_of_problems(path.parent)
    assert holders.pop("p3") == {path, other}
    assert set(holders) == {"old", *(f"p{n}" for n in range(21))} - {"p3"}
    assert all(journals == {path} for journals in holders.values())


def test_a_lock_excludes_a_second_writer(path: Path) -> None:
    first, second = ShardLock(path), ShardLock(path)
    assert first.acquire()
    assert not second.acquire()
    first.release()
    assert second.acquire()
    second.release()
    first.release()


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
    first, second = ShardLock(path), ShardLock(path)
    assert first.acquire()
    assert not second.acquire()
    first.release()
    assert second.acquire()
    second.release()


def test_a_dead_workers_shard_is_freed_and_no_other(path: Path) -> None:
    lock = ShardLock(path)
    assert lock.acquire()
    forget_dead_owner(path, os.getpid() + 1)
    assert path.with_suffix(".owner").exists()
    forget_dead_owner(path, os.getpid())
    assert not path.with_suffix(".owner").exists()
    lock.release()


def test_counts_are_of_this_file_and_of_how_requests_ended(path: Path) -> None:
    earlier = path.with_name("earlier.jsonl")
    with Journal(earlier) as journal:
        journal.append([ok("old")])
    with Journal(path, earlier=[earlier]) as journal:
        journal.append([failed("a", "timeout"), failed("b", "timeout"), ok("c")])
        journal.append([replace(ok("a"), prompt_tokens=7, cached_tokens=3, completion_tokens=2)])
    with Journal(path, earlier=[earlier]) as journal:
        counts = journal.counts()
        assert counts["answered"] == 2
        assert counts["failed"] == {"timeout": 1}
        assert journal.latest("b") == failed("b", "timeout")
        assert journal.find("b") is None
    assert (counts["prompt_tokens"], counts["cached_tokens"], counts["completion_tokens"]) == (
        7 + ok("c").prompt_tokens,
        3 + ok("c").cached_tokens,
        2 + ok("c").completion_tokens,
    )
