"""The rank on one node: starts the node's workers and watches them.

usage: python -m dhd.ranks.node FOLDER_OF_THE_RUN

It always exits with 0: many launchers end a whole job when one rank fails, and the other nodes'
workers can finish what a dead one leaves. What went wrong is in the run's folder.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import traceback
from pathlib import Path

from dhd.engines.parent import die_with_parent
from dhd.engines.placement import slot_environment, visible_gpus
from dhd.errors import EngineError
from dhd.journal.lock import forget_dead_owner
from dhd.ranks.node_plan import NodePlan
from dhd.ranks.run_folder import RunFolder

_LOOK_EVERY_S = 0.5
_KILL_AFTER_S = 75.0
"""Time that a worker gets beyond its drain to write and to release its engine."""


class Node:
    """The workers of one node.

    Parameters
    ----------
    run
        Folder of the run.
    plan
        What the leader says.
    """

    def __init__(self, run: RunFolder, plan: NodePlan) -> None:
        self._run = run
        self._plan = plan
        self._rank = run.claim_rank()
        self._parent = os.getppid()
        self._host = socket.gethostname()
        self._workers: dict[int, subprocess.Popen[bytes]] = {}
        self._is_told = False
        self._kill_s = float("inf")

    def work(self) -> None:
        """Start all workers and return when they have ended."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._heed)
        gpus, slots = visible_gpus(), self._plan.per_node
        for slot in range(slots):
            worker = self._rank * slots + slot
            try:
                variables = slot_environment(gpus, slot, slots)
                self._start(worker, os.environ | variables)
            except EngineError as error:
                self._report(worker, str(error))
            except OSError as error:
                self._report(worker, f"could not be started: {error}")
        while self._workers:
            time.sleep(_LOOK_EVERY_S)
            self._reap()
            self._watch()

    def _start(self, worker: int, environment: dict[str, str]) -> None:
        command = [sys.executable, "-m", "dhd.ranks.worker", str(self._run.path), str(worker)]
        path = self._plan.worker_log(worker)
        log = None if path is None else path.open("wb")
        try:
            self._workers[worker] = subprocess.Popen(  # noqa: S603 - our own module
                command, env=environment, stdout=log, stderr=log, preexec_fn=die_with_parent
            )
        finally:
            if log is not None:
                log.close()

    def _heed(self, *_: object) -> None:
        self._is_told = True

    def _reap(self) -> None:
        """Report workers that ended badly, and free the shards that they held."""
        for worker, process in list(self._workers.items()):
            code = process.poll()
            if code is None:
                continue
            del self._workers[worker]
            for journal in self._plan.journals:
                forget_dead_owner(Path(journal), process.pid)
            if code < 0:
                self._report(worker, f"was killed by {signal.Signals(-code).name}")
            elif code > 0 and not self._run.has_ended(_name(worker)):
                self._report(worker, f"exited with {code}")

    def _report(self, worker: int, what: str) -> None:
        path = self._plan.worker_log(worker)
        where = "" if path is None else f"; see {path}"
        line = f"worker {worker} on {self._host} {what}{where}"
        print(line, flush=True)
        self._run.note_end(_name(worker), line)

    def _watch(self) -> None:
        """Pass on that the job has to stop; kill what does not."""
        if self._kill_s == float("inf"):
            is_orphan = os.getppid() != self._parent
            if self._is_told or is_orphan or self._run.must_stop(self._plan.stale_after_s):
                self._kill_s = time.monotonic() + self._plan.drain_s + _KILL_AFTER_S
                self._signal(signal.SIGTERM)
        elif time.monotonic() > self._kill_s:
            self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        for process in self._workers.values():
            process.send_signal(number)


def _name(worker: int) -> str:
    return f"{worker:04d}"


def main() -> int:
    """Work as the rank on this node; return 0, and leave a note of what went wrong."""
    run = RunFolder(Path(sys.argv[1]))
    host = socket.gethostname()
    try:
        plan = NodePlan.read(run)
        os.chdir(plan.folder)
        Node(run, plan).work()
    except Exception as error:  # whatever it is, other nodes go on
        traceback.print_exc()
        run.note_end(f"rank-{host}", f"the rank on {host} failed: {error!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
