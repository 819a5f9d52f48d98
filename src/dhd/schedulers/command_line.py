"""What a Snakemake was started for, by the words of its command line."""

from __future__ import annotations

import re
from collections.abc import Sequence

_DRY = re.compile(r"-[a-zA-Z]*n[a-zA-Z]*|--dry-?run")
#: Options with which Snakemake neither runs a job nor asks for the lock of its files.
_NO_RUN = re.compile(
    r"--(unlock|nolock|lint|mode|summary|detailed-summary|dag|rulegraph|filegraph|d3dag|list.*"
    r"|print-compilation|archive|report|cleanup-.*|delete-.*|conda-.*|containerize|version|help)"
    r"(=.*)?|-[lDvh]"
)


def is_dry_run(words: Sequence[str]) -> bool:
    """Return whether a command line has ``-n``, alone or with other letters, or its long form."""
    return any(_DRY.fullmatch(word) for word in words)


def runs_jobs(words: Sequence[str]) -> bool:
    """Return whether a command line makes Snakemake lock its files and run jobs."""
    return not is_dry_run(words) and not any(_NO_RUN.fullmatch(word) for word in words)
