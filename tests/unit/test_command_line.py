"""What a command line of Snakemake is for, and whose lock is in its way."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dhd.errors import ConfigError
from dhd.schedulers.command_line import is_dry_run, runs_jobs
from dhd.schedulers.controller import refuse_left_lock

STUDY = Path("results", "demo")


@pytest.mark.parametrize("word", ["-n", "-np", "-qn", "--dry-run", "--dryrun"])
def test_dry_runs(word: str) -> None:
    assert is_dry_run(["snakemake", word])
    assert not runs_jobs(["snakemake", word])


@pytest.mark.parametrize("word", ["--unlock", "--lint", "--mode", "--summary", "--list-rules"])
def test_commands_that_take_no_lock(word: str) -> None:
    assert not runs_jobs(["snakemake", word])


@pytest.mark.parametrize("word", ["--configfile=x", "--cores", "all", "-c2", "-k", "--notemp"])
def test_runs(word: str) -> None:
    assert runs_jobs(["snakemake", word])
    assert not is_dry_run(["snakemake", word])


def lock(folder: Path, *files: str) -> None:
    locks = folder / ".snakemake" / "locks"
    locks.mkdir(parents=True)
    (locks / "0.output.lock").write_text("".join(f"{name}\n" for name in files))


def test_a_lock_that_a_killed_run_has_left_names_the_way_back(tmp_path: Path) -> None:
    lock(tmp_path, "results/other/x", "results/demo/tables")
    with pytest.raises(ConfigError, match=r"results/demo: .*\n  dhd resume --profile slurm …"):
        refuse_left_lock(tmp_path, STUDY, ["snakemake", "--profile", "slurm"])


@pytest.mark.parametrize("files", [["results/demonstration/x"], ["results/other/demo"]])
def test_locks_of_other_studies_are_not_in_the_way(tmp_path: Path, files: list[str]) -> None:
    lock(tmp_path, *files)
    refuse_left_lock(tmp_path, STUDY, ["snakemake"])
    refuse_left_lock(tmp_path / "without", STUDY, ["snakemake"])


def test_of_a_run_that_is_there_snakemake_speaks_itself(tmp_path: Path) -> None:
    lock(tmp_path, "results/demo/tables")
    (tmp_path / "snakemake").write_text("import time\nprint('up', flush=True)\ntime.sleep(60)\n")
    command = [sys.executable, "snakemake"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, env=os.environ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        refuse_left_lock(tmp_path, STUDY, ["snakemake"])
        other.kill()
