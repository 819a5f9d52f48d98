"""One deliberation job, as a process of its own that a test can kill.

usage: crash_job.py CONFIG FAMILY BENCHMARK BUNDLE ASKED_LOG

Writes the content key of every request handed to the engine to ASKED_LOG before the engine
gets it, so that a test can count what was asked across kills.
"""

import os
import sys
from pathlib import Path

from dhd.config.load import load_study_file
from dhd.config.models import ModelSettings
from dhd.engines.base import Engine
from dhd.engines.build import build_engine
from dhd.requests import Request
from dhd.stages import session
from dhd.stages.deliberate import DeliberationJob
from dhd.stages.running import run_bundle

PROJECT_ROOT = Path(__file__).resolve().parents[2]


def main(config: str, family: str, benchmark: str, bundle: str, asked_log: str) -> None:
    """Run one bundle with an engine whose submissions are logged."""
    log = os.open(asked_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def logged(settings: ModelSettings, _: object) -> Engine:
        engine = build_engine(settings)
        submit = engine.submit

        def submit_logged(key: str, request: Request) -> None:
            os.write(log, f"{key}\n".encode())
            submit(key, request)

        engine.submit = submit_logged  # type: ignore[method-assign]
        return engine

    session.build_engine = logged
    study = load_study_file(Path(config), root=PROJECT_ROOT)
    run_bundle(study, DeliberationJob(family, benchmark, bundle), console=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
