"""A local OpenAI-compatible endpoint that misbehaves on demand; a real HTTP server process.

Run it as ``python tests/support/fake_endpoint.py --plan 429,500,ok``; it binds to 127.0.0.1 only
and prints its port as the first line. In tests use ``fake_endpoint(...)`` below.

Options
-------
--port N            port; 0 (the default) takes a free one
--port-file FILE    also write the port to FILE (renamed into place)
--plan PLANS        what the 1st, 2nd, … try of one request gets, separated by commas; the last
                    entry repeats. Several plans are separated by ``;``: a request follows the plan
                    that the hash of its body chooses. Tries are counted per body. Default ``ok``.
--retry-after S     value of ``Retry-After`` on 429 and 503 (default 0)
--slow-s S          how long ``slow`` waits before it answers well (default 0.3)
--latency-s S       how long every answer takes (default 0)
--model NAME        ``model`` of the answers (default: the one that was asked)
--key-env NAME      environment variable with the key that requests must carry, else 401
--log FILE          append one JSON line a request: body, try, behaviour; never headers

Behaviours
----------
ok          right answer: an instance of the JSON schema, else prose with ``Final answer:``
slow        ``ok`` after ``--slow-s``
think       ``ok`` with ``<think>…</think>`` before it
reasoning   ``ok`` with ``reasoning_content`` beside it
unfinished  empty content, ``reasoning_content`` only, ``finish_reason`` ``length``
echo        answers with the request's Authorization header as content
cut         announces more bytes than it sends and closes
reset       closes the connection without an answer
malformed   200 with half a JSON document
html        200 with an HTML page
empty       200 with no choices
toolong     400 with vLLM's message about the context length
NNN         that HTTP status with an error document, e.g. 429, 500, 503, 401, 404

A body may carry ``"fake": {"plan", "retry_after", "slow_s", "model", "id"}``, which overrides the
options for that request (put it into the model's ``extra_body``); ``id`` keeps equal bodies apart
and is counted in the stats.

``GET /stats`` returns ``{"requests", "most_at_once", "behaviours": {name: count}, "ids": {id:
count}}``;
``GET /v1/models`` lists the model.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from dhd.engines.scripted import scripted_text
from dhd.requests import Decoding, Request, Turn

RETRY_LATER = (429, 503)


class State:
    """What the server remembers between requests."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.plans = [plan.split(",") for plan in options.plan.split(";")]
        self.lock = threading.Lock()
        self.tries: Counter[str] = Counter()
        self.behaviours: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()
        self.at_once = 0
        self.most_at_once = 0

    def next_behaviour(self, digest: str, body: dict[str, Any], fake: dict[str, Any]) -> str:
        with self.lock:
            plan = self.plans[int(digest[:8], 16) % len(self.plans)]
            plan = fake["plan"].split(",") if "plan" in fake else plan
            behaviour = plan[min(self.tries[digest], len(plan) - 1)]
            self.tries[digest] += 1
            self.behaviours[behaviour] += 1
            self.ids[fake.get("id", "")] += 1
            if self.options.log is not None:
                entry = {"body": body, "try": self.tries[digest], "behaviour": behaviour}
                with self.options.log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps(entry) + "\n")
        return behaviour

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        with self.lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            yield
        finally:
            with self.lock:
                self.at_once -= 1

    def stats(self) -> dict[str, Any]:
        with self.lock:
            return {
                "requests": sum(self.behaviours.values()),
                "most_at_once": self.most_at_once,
                "behaviours": dict(self.behaviours),
                "ids": dict(self.ids),
            }


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # One segment per answer: Nagle's algorithm and delayed ACK would add 40 ms to each.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: Server
    fake: dict[str, Any]

    def option(self, name: str) -> Any:
        return self.fake.get(name, getattr(self.server.state.options, name))

    def log_message(self, *_: object) -> None:
        """Print nothing: the port is the only line on stdout."""

    def do_GET(self) -> None:
        if self.path == "/stats":
            self.reply(200, self.server.state.stats())
        elif self.path == "/v1/models":
            name = self.server.state.options.model or "fake"
            self.reply(200, {"object": "list", "data": [{"id": name, "object": "model"}]})
        else:
            self.reply(404, {"error": {"message": "no such path"}})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != "/v1/chat/completions":
            self.reply(404, {"error": {"message": "no such path"}})
            return
        state = self.server.state
        key_env = state.options.key_env
        if key_env and self.headers.get("Authorization") != f"Bearer {os.environ[key_env]}":
            self.reply(401, {"error": {"message": "wrong key"}})
            return
        with state.counted():
            digest = hashlib.sha256(raw).hexdigest()
            body = json.loads(raw)
            self.fake = body.pop("fake", {})
            behaviour = state.next_behaviour(digest, body, self.fake)
            time.sleep(state.options.latency_s)
            self.behave(behaviour, digest[:32], body)

    def behave(self, behaviour: str, key: str, body: dict[str, Any]) -> None:
        if behaviour.isdigit():
            self.reply(int(behaviour), {"error": {"message": f"status {behaviour} as planned"}})
        elif behaviour == "reset":
            self.close_connection = True
        elif behaviour == "toolong":
            message = "This model's maximum context length is 4096 tokens. However, you requested 9"
            self.reply(400, {"error": {"message": message, "code": 400}})
        elif behaviour == "html":
            self.send(200, b"<html>bad gateway</html>")
        elif behaviour == "empty":
            self.reply(200, {"choices": []})
        else:
            if behaviour == "slow":
                time.sleep(self.option("slow_s"))
            payload = json.dumps(self.answer(behaviour, key, body)).encode()
            if behaviour == "cut":
                self.send(200, payload[: len(payload) // 2], announced=len(payload))
                self.close_connection = True
            else:
                self.send(200, payload[:40] if behaviour == "malformed" else payload)

    def answer(self, behaviour: str, key: str, body: dict[str, Any]) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": answer_text(key, body)}
        if behaviour == "think":
            message["content"] = f"<think>First guess: 16.</think>\n{message['content']}"
        elif behaviour == "reasoning":
            message["reasoning_content"] = "First guess: 16."
        elif behaviour == "unfinished":
            message |= {"content": None, "reasoning_content": "First guess: 16."}
        elif behaviour == "echo":
            message["content"] = self.headers.get("Authorization")
        prompt = sum(len(turn["content"]) for turn in body["messages"])
        return {
            "id": f"chatcmpl-{key}",
            "object": "chat.completion",
            "model": self.option("model") or body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": "length" if behaviour == "unfinished" else "stop",
                }
            ],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": len(message["content"] or ""),
                "prompt_tokens_details": {"cached_tokens": prompt // 2},
            },
        }

    def reply(self, status: int, document: dict[str, Any]) -> None:
        self.send(status, json.dumps(document).encode())

    def send(self, status: int, payload: bytes, announced: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload) if announced is None else announced))
        if status in RETRY_LATER:
            self.send_header("Retry-After", str(self.option("retry_after")))
        self.end_headers()
        # A client that gave up has closed its end.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(payload)
            self.wfile.flush()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, state: State) -> None:
        super().__init__(("127.0.0.1", state.options.port), Handler)
        self.state = state

    def handle_error(self, *_: object) -> None:
        """Stay silent when a client hangs up in the middle."""


def answer_text(key: str, body: dict[str, Any]) -> str:
    """Return the scripted answer to a request body."""
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    turns = tuple(Turn(turn["role"], turn["content"]) for turn in body["messages"])
    decoding = Decoding(body["temperature"], body["max_tokens"])
    return scripted_text(key, Request("integrator", turns, decoding, schema))


def read_options(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--port-file", type=Path)
    parser.add_argument("--plan", default="ok")
    parser.add_argument("--retry-after", default="0")
    parser.add_argument("--slow-s", type=float, default=0.3)
    parser.add_argument("--latency-s", type=float, default=0.0)
    parser.add_argument("--model")
    parser.add_argument("--key-env")
    parser.add_argument("--log", type=Path)
    return parser.parse_args(argv)


def main() -> None:
    options = read_options()
    with Server(State(options)) as server:
        port = server.server_address[1]
        if options.port_file is not None:
            partial = options.port_file.with_suffix(".partial")
            partial.write_text(str(port), encoding="utf-8")
            partial.rename(options.port_file)
        print(port, flush=True)
        server.serve_forever(poll_interval=0.05)


@dataclass(frozen=True)
class Endpoint:
    """A running endpoint, as tests see it."""

    port: int

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def stats(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/stats", timeout=5) as answer:
            return dict(json.load(answer))


@contextlib.contextmanager
def fake_endpoint(*options: str, env: dict[str, str] | None = None) -> Iterator[Endpoint]:
    """Run the server as a child process while the block runs."""
    process = subprocess.Popen(
        [sys.executable, __file__, *options],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **(env or {})},
    )
    try:
        with process, contextlib.ExitStack() as stack:
            stack.callback(process.kill)
            assert process.stdout is not None
            yield Endpoint(int(process.stdout.readline()))
    finally:
        process.wait()


if __name__ == "__main__":
    main()
