"""The journal: what it keeps, what it repairs, what it refuses."""

import errno
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from dhd.errors import JournalError
from dhd.journal import Journal
from dhd.journal.holders import journals_of_problems, note_problems
from support.completions import failed, ok


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


def test_notes_of_problems_add_up_whoever_writes_them(path: Path) -> None:
    path.parent.mkdir()
    path.with_suffix(".problems").write_text('["old"]')
    sets = [[f"p{n}", f"p{n + 1}"] for n in range(20)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda uids: note_problems(path, uids), sets))
    other = path.with_name("00016-00031.jsonl")
    note_problems(other, ["p3"])
    holders = journals_of_problems(path.parent)
    assert holders.of("p3") == {path, other}
    assert set(holders.noted) == {"old", *(f"p{n}" for n in range(21))}
    assert all(holders.of(uid) == {path} for uid in set(holders.noted) - {"p3"})
    assert not holders.of("p99")


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
