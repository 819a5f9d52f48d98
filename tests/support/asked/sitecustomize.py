"""Put this folder on PYTHONPATH, and processes log what their scripted engines are asked.

``DHD_ASKED_LOG`` names the log: a line ``<worker> <pid> <key>`` for every request that an engine
gets, written before the engine has it; worker is empty (-) where the process is none.
``DHD_SLOW_WORKER`` names a worker whose engine takes ``DHD_SLOW_S`` seconds longer for a poll.
"""

import asyncio
import os
import sys

if "DHD_ASKED_LOG" in os.environ:
    from dhd.engines.scripted import ScriptedEngine
    from dhd.requests import Completion, Request

    LOG = os.open(os.environ["DHD_ASKED_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    submit, poll = ScriptedEngine.submit, ScriptedEngine.poll

    def worker() -> str:
        return sys.argv[2] if sys.argv[0].endswith("ranks/worker.py") else "-"

    def submit_logged(self: ScriptedEngine, key: str, request: Request) -> None:
        os.write(LOG, f"{worker()} {os.getpid()} {key}\n".encode())
        submit(self, key, request)

    async def poll_slowly(self: ScriptedEngine) -> list[Completion]:
        if os.environ.get("DHD_SLOW_WORKER") == worker():
            await asyncio.sleep(float(os.environ["DHD_SLOW_S"]))
        return await poll(self)

    ScriptedEngine.submit = submit_logged  # type: ignore[method-assign]
    ScriptedEngine.poll = poll_slowly  # type: ignore[method-assign]
