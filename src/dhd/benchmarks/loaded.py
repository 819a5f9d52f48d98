"""What a loader gets and what it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from dhd.benchmarks.files import Source
from dhd.problems import Problem


@dataclass(frozen=True, slots=True)
class Loading:
    """The task of a loader.

    Attributes
    ----------
    key
        The benchmark's key in the config.
    license
        Licence that goes into every problem.
    source
        Where the files are.
    strata
        Strata that are wanted, None for all; a loader may skip files of others.
    is_variant
        Whether the user declared another number of problems than the paper's, so that
        counts inside the upstream files are not checked either.
    """

    key: str
    license: str
    source: Source
    strata: Sequence[str] | None = None
    is_variant: bool = False


@dataclass(slots=True)
class Loaded:
    """The problems of a benchmark in upstream order, and what a user should know of them.

    ``is_partial`` tells that the loader read the files of the wanted strata only.
    """

    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_partial: bool = False


class Loader(Protocol):
    """Reads one kind of upstream files."""

    def __call__(self, loading: Loading) -> Loaded:
        """Return the problems; raise BenchmarkError where a file is not what it should be."""
        ...


def note(what: str, names: Sequence[str]) -> str:
    """Return a note: what, how many, and the first of them by name."""
    return f"{what}: {len(names)}: {listing(names)}"


def listing(names: Sequence[str], most: int = 8) -> str:
    """Return the first names, and how many more there are."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
