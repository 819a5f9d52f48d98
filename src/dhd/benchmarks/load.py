"""Load a benchmark and check that it is the one the config means."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dhd.benchmarks.catalogue import CATALOGUE
from dhd.benchmarks.files import Source, verify_checksums
from dhd.benchmarks.loaded import Loaded, Loader, Loading
from dhd.errors import BenchmarkError, ConfigError
from dhd.problems import Problem

if TYPE_CHECKING:
    # The settings know the catalogue of this package, so they must not be imported here.
    from dhd.config.benchmarks import BenchmarkSettings


@dataclass(frozen=True, slots=True)
class LoadedBenchmark:
    """The problems that a study uses.

    Attributes
    ----------
    problems
        In upstream order, after ``strata`` and ``limit``.
    notes
        What the log should say: rows collapsed or left out, references that are void.
    checksums
        sha256 of each upstream file that was read, by its name below the source.
    """

    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    checksums: Mapping[str, str] = field(default_factory=dict)


def load_benchmark(key: str, settings: BenchmarkSettings, path: Path) -> LoadedBenchmark:
    """Load, check and select the problems of one benchmark.

    Parameters
    ----------
    key
        The benchmark's key in the config; becomes ``Problem.benchmark``.
    settings
        The benchmark's settings.
    path
        The local file or folder, or the folder into which the remote was downloaded.

    Raises
    ------
    BenchmarkError
        If a file is missing, cut, of another kind or has another checksum; if a column is
        missing or a text empty; if ids repeat; if the number of problems is not the
        paper's (Table 2) or not the configured one.
    """
    if not path.exists():
        raise BenchmarkError(f"{path}: no such file or folder; benchmarks.{key} needs it")
    verify_checksums(path, settings.checksums())
    source = Source(path)
    loaded = _load(key, settings, source)
    where = f"benchmarks.{key} ({path})"
    _check_unique(loaded.problems, where)
    if settings.loader in CATALOGUE and settings.expected_count is None and not loaded.is_partial:
        _check_count(loaded.problems, CATALOGUE[settings.loader].count, where)
    problems = _select(loaded.problems, settings.strata, where)
    expected = _known_count(settings)
    if expected is not None:
        _check_count(problems, expected, where)
    notes = [*loaded.notes, *_upstream_notes(settings.loader, source.checksums)]
    return LoadedBenchmark(tuple(problems[: settings.limit]), tuple(notes), dict(source.checksums))


def problem_count(key: str, settings: BenchmarkSettings, path: Path | None) -> int:
    """Return how many problems :func:`load_benchmark` will give, as fast as can be known.

    No file is read where ``expected_count`` is given or the loader's count is fixed. A
    user's JSONL is counted by its lines; strata of unknown size are counted by loading.

    Raises
    ------
    ConfigError
        If the count depends on a file that is not there yet.
    """
    count = _known_count(settings)
    if count is None:
        count = _count_in_file(key, settings, path)
    return count if settings.limit is None else min(count, settings.limit)


def _known_count(settings: BenchmarkSettings) -> int | None:
    """Return the number of problems after ``strata`` and before ``limit``, None if unknown."""
    if settings.expected_count is not None or settings.loader == "user":
        return settings.expected_count
    upstream = CATALOGUE[settings.loader]
    if settings.strata is None:
        return upstream.count
    sizes = [upstream.strata[name] for name in settings.strata]
    return sum(size or 0 for size in sizes) if None not in sizes else None


def _count_in_file(key: str, settings: BenchmarkSettings, path: Path | None) -> int:
    if path is None or not path.exists():
        raise ConfigError(
            f"benchmarks.{key}: its number of problems is not known before its file is there "
            f"({path or 'no path yet'}); give expected_count, or download it first"
        )
    if settings.loader == "user" and settings.strata is None:
        from dhd.benchmarks.user import count_user

        return count_user(Source(path))
    unlimited = settings.model_copy(update={"limit": None})
    return len(load_benchmark(key, unlimited, path).problems)


def _load(key: str, settings: BenchmarkSettings, source: Source) -> Loaded:
    # Imported by name, so that counting problems imports no loader that it does not need.
    module = importlib.import_module(f"dhd.benchmarks.{settings.loader}")
    loader: Loader = getattr(module, f"load_{settings.loader}")
    upstream = CATALOGUE.get(settings.loader)
    return loader(
        Loading(
            key=key,
            license=upstream.license if upstream else "",
            source=source,
            strata=settings.strata,
            is_variant=settings.expected_count is not None,
        )
    )


def _check_unique(problems: Sequence[Problem], where: str) -> None:
    first: dict[str, str] = {}
    for problem in problems:
        earlier = first.setdefault(problem.problem_uid, problem.source)
        if earlier != problem.source:
            raise BenchmarkError(
                f"{where}: problem_uid: found {problem.problem_uid} twice "
                f"({earlier}; {problem.source}), expected unique ids"
            )


def _check_count(problems: Sequence[Problem], expected: int, where: str) -> None:
    if len(problems) == expected:
        return
    strata = Counter(
        problem.stratum or problem.source.rpartition(" row ")[0] for problem in problems
    )
    sizes = ", ".join(f"{name} {count}" for name, count in strata.items())
    raise BenchmarkError(
        f"{where}: found {len(problems)} problems ({sizes}), expected {expected}; "
        "if the files are a variant on purpose, set expected_count to what was found"
    )


def _select(problems: list[Problem], strata: Sequence[str] | None, where: str) -> list[Problem]:
    if strata is None:
        return problems
    found = {problem.stratum for problem in problems}
    missing = [name for name in strata if name not in found]
    if missing:
        there = ", ".join(sorted(name for name in found if name)) or "none"
        raise BenchmarkError(
            f"{where}: strata: found no problem of {', '.join(missing)}; the file has {there}"
        )
    return [problem for problem in problems if problem.stratum in strata]


def _upstream_notes(loader: str, checksums: Mapping[str, str]) -> list[str]:
    """Return a note for each file that differs from the upstream file the counts come from."""
    if loader not in CATALOGUE:
        return []
    known = {name.rpartition("/")[2]: sha for name, sha in CATALOGUE[loader].files.items() if sha}
    notes = []
    for name, found in checksums.items():
        pinned = known.get(name.rpartition("/")[2])
        if pinned and pinned != found:
            notes.append(f"{name} is not the known upstream file: sha256 {found}, known {pinned}")
    return notes
