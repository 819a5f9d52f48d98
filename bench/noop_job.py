"""A job that does nothing but make what Snakemake expects of it; see `bench/scale.py`.

Usage: ``python bench/noop_job.py JOBSCRIPT``
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path


def main() -> None:
    """Make the declared outputs of the job, empty."""
    script = Path(sys.argv[1]).read_text()
    workdir = re.search(r"^cd (\S+) ", script, re.MULTILINE)
    found = re.search(r"^# properties = (.*)$", script, re.MULTILINE)
    if workdir is None or found is None:
        sys.exit("no job script of Snakemake's")
    for name in json.loads(found[1])["output"]:
        path = Path(workdir[1], name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


if __name__ == "__main__":
    main()
