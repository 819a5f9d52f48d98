"""The faults of ``bench/chaos.py``, and what they cost."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from measure import ROOT

sys.path.insert(0, str(ROOT / "tests"))

from support.pbs_study import PbsStudy

KINDS = (
    "job preempted",
    "job deleted",
    "rank killed",
    "engine killed",
    "controller killed",
    "disk full",
    "journal torn",
    "renames slow",
)
_TARGET_WITHIN_S = 180.0
_SETTLE_S = 0.6


class Chaos:
    """Disturbs one study.

    Parameters
    ----------
    study
        The study, not yet started.
    numbers
        Random numbers: which job, which process, when.

    Attributes
    ----------
    applied
        Faults by kind.
    in_flight
        Requests that engines had at faults that may end them.
    resumed
        How often ``dhd resume`` was needed.
    """

    def __init__(self, study: PbsStudy, numbers: random.Random) -> None:
        self.study = study
        self.random = numbers
        self.applied: Counter[str] = Counter()
        self.in_flight = 0
        self.resumed = 0
        self._flags = study.folder / "faults"
        self._flags.mkdir()
        self._controller = study.start("snakemake", "--profile", "polaris", "tables")
        self._faults: dict[str, Callable[[], bool]] = {
            "job preempted": lambda: self._end_job("qrerun"),
            "job deleted": lambda: self._end_job("qdel"),
            "rank killed": lambda: self._kill("dhd.ranks.node"),
            "engine killed": lambda: self._kill("dhd.ranks.worker"),
            "controller killed": self._kill_controller,
            "disk full": self._fill_disk,
            "journal torn": self._tear_journal,
            "renames slow": self._slow_renames,
        }

    def pace(self, *, share: float, requests: int, deadline: float) -> None:
        """Let the study run on until an engine works; never beyond a share of its requests.

        Engines finish nothing while more is answered, so that the study lasts as long as its
        faults.
        """
        time.sleep(self.random.uniform(0.5, 3.0))
        while True:
            self._keep_running()
            self._flag("hold", on=len(self._answered()) >= share * requests)
            if self._processes("dhd.ranks.worker") or time.monotonic() > deadline:
                return
            time.sleep(0.5)

    def apply(self, kind: str) -> None:
        """Apply a fault; wait for something that it can hit."""
        deadline = time.monotonic() + _TARGET_WITHIN_S
        while not self._faults[kind]():
            self._keep_running()
            if time.monotonic() > deadline:
                raise TimeoutError(f"{kind}: nothing to hit\n{self.study.told()}")
            time.sleep(0.3)
        self.applied[kind] += 1
        print(f"      {self.applied.total():>3}  {kind}", file=sys.stderr, flush=True)

    def finish(self, deadline: float) -> None:
        """Let the study run to its end."""
        self._flag("hold", on=False)
        while self._keep_running():
            if time.monotonic() > deadline:
                raise TimeoutError(f"not finished in time\n{self.study.told()}")
            time.sleep(0.5)

    def finished(self) -> Counter[tuple[str, str]]:
        """Return how often each (journal, request) was finished; torn last lines count as none."""
        found: Counter[tuple[str, str]] = Counter()
        for path in self.study.folder.glob("results/*/journal/**/*.jsonl"):
            *whole, _ = path.read_bytes().split(b"\n")
            lines = (json.loads(line) for line in whole)
            found.update((str(path), line["key"]) for line in lines if line["status"] == "ok")
        return found

    def asked_again(self) -> int:
        """Return how many requests engines got that they or others had got before."""
        return sum(self.lost_by_process().values())

    def lost_by_process(self) -> Counter[str]:
        """Return how many requests of each process were asked again later."""
        askers: dict[str, list[str]] = {}
        for pid, key in self._asked():
            askers.setdefault(key, []).append(pid)
        return Counter(pid for pids in askers.values() for pid in pids[:-1])

    def _keep_running(self) -> bool:
        """Start Snakemake again where it ended badly; return False when all is done."""
        code = self._controller.poll()
        if code is None:
            return True
        if code == 0:
            return False
        self.resumed += 1
        self._controller = self.study.start("dhd", "resume", "--profile", "polaris", "tables")
        return True

    def _end_job(self, command: str) -> bool:
        running = self.study.jobs_in("R", "deliberate")
        if not running:
            return False
        job = self.random.choice(running)
        workers = self._processes("dhd.ranks.worker")
        self._count_in_flight([pid for pid in workers if _is_of_job(pid, job)])
        return self.study.call(command, job).returncode == 0

    def _kill(self, module: str) -> bool:
        found = self._processes(module)
        if not found:
            return False
        victim = self.random.choice(found)
        workers = self._processes("dhd.ranks.worker")
        hit = [pid for pid in workers if victim in (pid, _parent(pid))]
        with self._held():
            self._count_in_flight(hit)
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        return True

    def _kill_controller(self) -> bool:
        if self._controller.poll() is not None:
            return False
        # `dhd resume` cancels the jobs that it leaves behind.
        self._count_in_flight(self._processes("dhd.ranks.worker"))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._controller.pid, signal.SIGKILL)
        self._controller.wait()
        return True

    def _fill_disk(self) -> bool:
        workers = self._processes("dhd.ranks.worker")
        if not workers:
            return False
        with self._held():
            self._count_in_flight(workers)
            self._flag("disk-full", on=True)
        time.sleep(self.random.uniform(1.0, 3.0))
        self._flag("disk-full", on=False)
        return True

    def _tear_journal(self) -> bool:
        """Leave half a line at the end of a journal that nobody writes, as a crash would."""
        journals = sorted(self.study.folder.glob("results/*/journal/**/*.jsonl"))
        self.random.shuffle(journals)
        for journal in journals:
            with journal.with_suffix(".lock").open("a") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                lines = journal.read_bytes().splitlines()
                if lines and journal.read_bytes().endswith(b"\n"):
                    with journal.open("ab") as stream:
                        stream.write(lines[0][: len(lines[0]) // 2])
                    return True
        return False

    def _slow_renames(self) -> bool:
        self._flag("slow-renames", on=True)
        time.sleep(self.random.uniform(2.0, 5.0))
        self._flag("slow-renames", on=False)
        return True

    @contextlib.contextmanager
    def _held(self) -> Iterator[None]:
        """Let engines finish nothing meanwhile."""
        was_held = (self._flags / "hold").exists()
        self._flag("hold", on=True)
        time.sleep(_SETTLE_S)
        yield
        self._flag("hold", on=was_held)

    def _count_in_flight(self, workers: Collection[int]) -> None:
        pids, answered = {str(pid) for pid in workers}, self._answered()
        asked = {(pid, key) for pid, key in self._asked() if pid in pids}
        self.in_flight += sum(key not in answered for _, key in asked)

    def _asked(self) -> list[tuple[str, str]]:
        """Return (process, key) of every request that an engine got, in order."""
        log = self.study.folder / "asked.log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [(words[1], words[2]) for words in map(str.split, lines)]

    def _answered(self) -> set[str]:
        return {key for _, key in self.finished()}

    def _processes(self, module: str) -> list[int]:
        """Return the study's processes that run a module."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (path / "cmdline").read_bytes().decode().split("\0")
                if words[1:3] == ["-m", module] and _is_below(path / "cwd", self.study.folder):
                    found.append(int(path.name))
        return found

    def _flag(self, name: str, *, on: bool) -> None:
        if on:
            (self._flags / name).touch()
        else:
            (self._flags / name).unlink(missing_ok=True)


def _is_below(link: Path, folder: Path) -> bool:
    return link.resolve().is_relative_to(folder.resolve())


def _is_of_job(pid: int, job: str) -> bool:
    with contextlib.suppress(OSError):
        return f"PBS_JOBID={job}.".encode() in Path(f"/proc/{pid}/environ").read_bytes()
    return False


def _parent(pid: int) -> int:
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0
