"""What every rule script does around its one library call: settings, log, errors."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from dhd.config.load import Study, load_study
from dhd.errors import DhdError
from dhd.stages.bundle_job import Allocation

if TYPE_CHECKING:
    from dhd.stages.specs import AnySpec

_BEGUN = time.time()
_JOB_START = "DHD_JOB_START"
"""Variable with the time at which the scheduler started the job, in seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a rule script needs.

    Attributes
    ----------
    study
        The checked settings.
    console
        The console behind its log.
    allocation
        What the scheduler gave it.
    """

    study: Study
    console: TextIO
    allocation: Allocation

    def run(self, spec: AnySpec) -> None:
        """Work one bundle off."""
        from dhd.stages.running import run_bundle

        run_bundle(self.study, spec, self.allocation, self.console)

    def say(self, text: str) -> None:
        """Report something in the log and on the console."""
        for target in (sys.stdout, self.console):
            print(text, file=target, flush=True)


@contextmanager
def rule_job(snakemake: Any) -> Iterator[Job]:
    """Run the body of a rule script with its output in the rule's log.

    Everything that the job prints, libraries in C included, goes to the log. Progress lines
    and an error that the user can mend show on the console too, the latter without a traceback.
    Of an error that nobody expects the console shows the last words and the log's name.

    Yields
    ------
    Job
        The settings and the console.
    """
    with (
        os.fdopen(os.dup(sys.stderr.fileno()), "w", errors="backslashreplace") as console,
        _open_log(snakemake) as stream,
    ):
        for target in (sys.stdout, sys.stderr):
            target.flush()
            os.dup2(stream.fileno(), target.fileno())
        try:
            root = Path(snakemake.scriptdir).resolve().parents[1]
            site = snakemake.resources.get("site")
            study = load_study(snakemake.config, source="config", root=root, site=site)
            yield Job(study, console, _allocation(snakemake, study))
        except (DhdError, OSError) as error:
            if isinstance(error, OSError):  # in the log with the place, for a full disk and kin
                traceback.print_exc()
            for target in (sys.stderr, console):
                print(f"{snakemake.rule}: {error}", file=target, flush=True)
            raise SystemExit(1) from None
        except BaseException as error:
            words = traceback.format_exception_only(error)[-1].strip()
            print(f"{snakemake.rule}: {words}; see {snakemake.log[0]}", file=console, flush=True)
            raise
        finally:
            sys.stdout.flush()
            sys.stderr.flush()


def _open_log(snakemake: Any) -> TextIO:
    """Return the rule's log, opened; end with a word where the disk refuses it."""
    log = Path(snakemake.log[0])
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        return log.open("w", encoding="utf-8")
    except OSError as error:
        print(f"{snakemake.rule}: {error}", file=sys.stderr, flush=True)
        raise SystemExit(1) from None


def _allocation(snakemake: Any, study: Study) -> Allocation:
    """Return what the scheduler gave the job, as its resources say."""
    minutes = snakemake.resources.get("runtime")
    deadline = None
    if minutes:
        begun = float(os.environ.get(_JOB_START) or _BEGUN)
        deadline = begun + 60 * minutes - study.settings.journal.walltime_margin_s
    return Allocation(
        nodes=snakemake.resources.get("nodes") or 1,
        deadline=deadline,
        settings=getattr(snakemake.params, "settings", ""),
        log=Path(snakemake.log[0]),
    )
