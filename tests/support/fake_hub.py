"""A model hub on this machine: one repository of small files, served as the real one does."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class FakeHub:
    """What is served, and what was asked.

    Attributes
    ----------
    repository
        ``owner/name``; every other one is unknown.
    files
        Content by name. Names that end in ``.safetensors`` are large files to the hub.
    asked
        Paths of all requests.
    status
        Answered to every request when it is not 200, with ``error`` as the hub's error code.
    """

    repository: str
    files: Mapping[str, bytes]
    asked: list[str] = field(default_factory=list)
    status: int = 200
    error: str = ""
    url: str = ""

    def tree(self) -> list[dict[str, object]]:
        """Return the listing of the repository."""
        entries: list[dict[str, object]] = []
        for name, content in self.files.items():
            entry: dict[str, object] = {
                "type": "file",
                "path": name,
                "size": len(content),
                "oid": git_sha1(content),
            }
            if name.endswith(".safetensors"):
                digest = hashlib.sha256(content).hexdigest()
                entry["lfs"] = {"oid": digest, "size": len(content), "pointerSize": 100}
            entries.append(entry)
        return entries


def git_sha1(content: bytes) -> str:
    """Return git's name of a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@contextmanager
def fake_hub(repository: str, files: Mapping[str, bytes]) -> Iterator[FakeHub]:
    """Serve a repository on a free port of this machine."""
    hub = FakeHub(repository, files)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.answer(body=False)

        def do_GET(self) -> None:
            self.answer(body=True)

        def answer(self, *, body: bool) -> None:
            path = unquote(urlsplit(self.path).path)
            hub.asked.append(path)
            tree = f"/api/models/{hub.repository}/tree/{COMMIT}"
            resolve = f"/{hub.repository}/resolve/{COMMIT}/"
            if hub.status != 200:
                self.reply(hub.status, b"", {"X-Error-Code": hub.error}, body)
            elif path == tree:
                content = json.dumps(hub.tree()).encode()
                self.reply(200, content, {"Content-Type": "application/json"}, body)
            elif path.startswith(resolve) and path.removeprefix(resolve) in hub.files:
                self.send_file(path.removeprefix(resolve), body)
            else:
                self.reply(404, b"", {"X-Error-Code": "RepoNotFound"}, body)

        def send_file(self, name: str, body: bool) -> None:
            content = hub.files[name]
            is_large = name.endswith(".safetensors")
            tag = hashlib.sha256(content).hexdigest() if is_large else git_sha1(content)
            headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{tag}"'}
            self.reply(200, content, headers, body)

        def reply(self, status: int, content: bytes, headers: dict[str, str], body: bool) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if body:
                self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
