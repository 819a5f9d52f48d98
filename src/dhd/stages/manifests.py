"""Manifests of samples: small JSON files that a person can read.

A manifest says what was wanted and what was there, so that a shortfall is never silent, and is
fixed before the first call of its study.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dhd.errors import RecordsError
from dhd.files import replacing
from dhd.studies import Case


def write_manifest(path: Path, document: Mapping[str, Any]) -> None:
    """Write a manifest, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")


def read_manifest(path: Path) -> Mapping[str, Any]:
    """Return a manifest.

    Raises
    ------
    RecordsError
        When it cannot be read.
    """
    try:
        document: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise RecordsError(
            f"{path}: not a readable manifest ({error}); delete it and run again"
        ) from error
    return document


def read_sample(path: Path) -> tuple[str, ...]:
    """Return the ``problem_uid`` of every problem of a manifest, in the order drawn."""
    return tuple(problem["problem_uid"] for problem in read_manifest(path)["problems"])


def earlier_draw(path: Path, head: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the manifest of an earlier draw; an empty one where there is none.

    Parameters
    ----------
    path
        The manifest; there need be none yet.
    head
        What a draw follows from, such as its seed: one that differs in it is another draw.
    """
    document = read_manifest(path) if path.exists() else {}
    is_same = all(document.get(name) == value for name, value in head.items())
    return document if is_same else {}


def earlier_problems(path: Path, head: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the problems of an earlier draw, first those of its sample, in their order."""
    draw = earlier_draw(path, head)
    if not draw:
        return ()
    return (*(one["problem_uid"] for one in draw["problems"]), *draw.get("set_aside", ()))


def read_cases(path: Path, benchmark: str) -> tuple[Case, ...]:
    """Return the cases of one benchmark of a masking manifest."""
    cases = (Case(**case) for case in read_manifest(path)["cases"])
    return tuple(case for case in cases if case.benchmark == benchmark)
