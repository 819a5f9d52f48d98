"""Downloads of pinned files, from a server on this machine."""

import functools
import hashlib
import socket
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dhd.benchmarks import download_benchmark, load_benchmark
from dhd.config.benchmarks import BenchmarkSettings
from dhd.errors import BenchmarkError, ConfigError
from support import benchmark_files as files

REVISION = "0123456789abcdef0123456789abcdef01234567"


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder; counts requests; cuts files whose name says so."""

    asked: list[str]

    def log_message(self, *_: object) -> None:
        """Stay silent."""

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if "cut" in self.path:
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"short")
            self.close_connection = True
        else:
            super().do_GET()


@pytest.fixture
def site(tmp_path, monkeypatch) -> Iterator[tuple[str, Path, list[str]]]:
    """Yield the address of a server, its folder and the paths that were asked for."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    folder = tmp_path / "site" / REVISION
    folder.mkdir(parents=True)
    asked: list[str] = []
    handler = type("Counting", (Handler,), {"asked": asked})
    served = functools.partial(handler, directory=str(folder.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), served) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/{{revision}}", folder, asked
        server.shutdown()
        thread.join()


def settings(url: str, pins: dict[str, str], loader: str = "user") -> BenchmarkSettings:
    remote = {"url": url, "revision": REVISION, "files": pins}
    return BenchmarkSettings.model_validate(
        {"loader": loader, "remote": remote, "expected_count": 3}
    )


def pinned(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_download_then_load(site, tmp_path):
    url, folder, asked = site
    made = files.write_rows(folder / "data" / "own.jsonl", files.user_rows())
    there = settings(url, {"data/own.jsonl": pinned(made)})
    target = tmp_path / "frozen"
    download_benchmark(there, target)
    assert (target / "data" / "own.jsonl").read_bytes() == made.read_bytes()
    assert [path.name for path in target.rglob("*") if path.is_file()] == ["own.jsonl"]
    loaded = load_benchmark("own", there, target / "data" / "own.jsonl")
    assert len(loaded.problems) == 3

    download_benchmark(there, target)
    assert len(asked) == 1
    (target / "data" / "own.jsonl").write_text("torn")
    download_benchmark(there, target)
    assert len(asked) == 2
    assert pinned(target / "data" / "own.jsonl") == pinned(made)


def test_remote_files_are_checked_again_on_load(site, tmp_path):
    url, folder, _ = site
    made = files.write_rows(folder / "own.jsonl", files.user_rows())
    there = settings(url, {"own.jsonl": pinned(made)})
    download_benchmark(there, tmp_path / "frozen")
    with (tmp_path / "frozen" / "own.jsonl").open("a") as stream:
        stream.write("\n")
    with pytest.raises(BenchmarkError, match=f"expected {pinned(made)}"):
        load_benchmark("own", there, tmp_path / "frozen")


def test_checksum_mismatch_says_both_and_leaves_nothing(site, tmp_path):
    url, folder, _ = site
    made = files.write_rows(folder / "own.jsonl", files.user_rows())
    with pytest.raises(BenchmarkError, match=f"found sha256 {pinned(made)}, expected {'0' * 64}"):
        download_benchmark(settings(url, {"own.jsonl": "0" * 64}), tmp_path / "frozen")
    assert list((tmp_path / "frozen").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "match"),
    [("nowhere.jsonl", "the server answered 404"), ("cut.jsonl", "cannot be fetched|found sha256")],
)
def test_missing_and_cut_files(site, tmp_path, name, match):
    url, _, _ = site
    with pytest.raises(BenchmarkError, match=match):
        download_benchmark(settings(url, {name: "0" * 64}), tmp_path / "frozen")
    assert list((tmp_path / "frozen").iterdir()) == []


def test_offline(tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        url = f"http://127.0.0.1:{held.getsockname()[1]}/{{revision}}"
        with pytest.raises(BenchmarkError, match=r"cannot be fetched.*login node"):
            download_benchmark(settings(url, {"own.jsonl": "0" * 64}), tmp_path)


def test_local_path_has_nothing_to_download(tmp_path):
    local = BenchmarkSettings(loader="user", path="own.jsonl")
    with pytest.raises(ConfigError, match="nothing to download"):
        download_benchmark(local, tmp_path)
