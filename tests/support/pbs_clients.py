"""Stand-ins for PBS's commands that answer as they are told."""

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from dhd.schedulers import pbs_submit


class Client:
    """Stands for one of PBS's commands: answers in turn, the last one for ever."""

    def __init__(self, folder: Path, name: str) -> None:
        self.answers, self.asked = folder / f"{name}.answers", folder / f"{name}.asked"
        script = (
            f"#!{sys.executable} -IS\nimport json, os, sys\n"
            f"answers = json.load(open({str(self.answers)!r}))\n"
            f"open({str(self.asked)!r}, 'a').write(json.dumps(sys.argv[1:]) + chr(10))\n"
            "out, err, code = answers[0]\n"
            f"json.dump(answers[1:] or answers, open({str(self.answers)!r}, 'w'))\n"
            "sys.stdout.write(out); sys.stderr.write(err)\n"
            "os.kill(os.getpid(), -code) if code < 0 else sys.exit(code)\n"
        )
        path = folder / name
        path.write_text(script)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def will(self, *answers: tuple[str, str, int]) -> None:
        self.answers.write_text(json.dumps(answers))

    @property
    def calls(self) -> list[list[str]]:
        if not self.asked.exists():
            return []
        return [json.loads(line) for line in self.asked.read_text().splitlines()]


def clients_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Client]:
    """Put stand-ins for PBS's commands first on the path, and work in an empty folder."""
    folder, work = tmp_path / "bin", tmp_path / "work"
    folder.mkdir()
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(pbs_submit.time, "sleep", lambda _: None)
    return {name: Client(folder, name) for name in ("qsub", "qstat", "qselect", "qdel")}
