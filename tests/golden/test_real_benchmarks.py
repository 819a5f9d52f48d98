"""The loaders on the real upstream files, where they lie beside the project."""

import hashlib
from collections import Counter
from pathlib import Path

import pytest

from dhd.benchmarks import LoadedBenchmark, load_benchmark
from dhd.benchmarks.catalogue import CATALOGUE
from dhd.benchmarks.options import shows_options
from dhd.config.benchmarks import BenchmarkSettings


def load(shared_dir: Path, name: str, **settings) -> LoadedBenchmark:
    path = shared_dir / "data" / name
    if not path.is_dir():
        pytest.skip(f"no benchmark files: {path} does not exist")
    return load_benchmark(name, BenchmarkSettings(loader=name, path=str(path), **settings), path)


def test_jeebench(shared_dir):
    loaded = load(shared_dir, "jeebench")
    assert len(loaded.problems) == 515
    assert Counter(p.stratum for p in loaded.problems) == CATALOGUE["jeebench"].strata
    uids = {p.problem_uid for p in loaded.problems}
    assert "jeebench:JEE Adv 2016 Paper 1:26" in uids
    choices = [p for p in loaded.problems if p.answer_format in ("choice", "multi_choice")]
    with_texts = [p for p in choices if p.options]
    assert (len(choices), len(with_texts)) == (296, 292)
    assert all(shows_options(p.problem, p.options) for p in with_texts)


def test_scibench(shared_dir):
    loaded = load(shared_dir, "scibench")
    assert len(loaded.problems) == 580
    told_apart = [p for p in loaded.problems if p.problem_uid.count(":") == 3]
    assert sorted(p.problem_uid.rpartition(":")[0] for p in told_apart) == [
        "scibench:quan:2.13",
        "scibench:quan:2.13",
        "scibench:stat:5.8-5",
        "scibench:stat:5.8-5",
        "scibench:stat:Problem 1.1.1",
        "scibench:stat:Problem 1.1.1",
    ]
    for problem in told_apart:
        digits = hashlib.sha256(problem.problem.encode()).hexdigest()[:8]
        assert problem.problem_uid.endswith(f":{digits}")
    by_uid = {p.problem_uid: p for p in loaded.problems}
    assert by_uid["scibench:quan:3.35"].answer_format == "numeric"
    assert sum(p.unit is not None and "10^" in p.unit for p in loaded.problems) > 50
    assert sum("," in p.reference for p in loaded.problems) == 2


def test_mascqa(shared_dir):
    loaded = load(shared_dir, "mascqa")
    assert len(loaded.problems) == 649
    assert Counter(p.stratum for p in loaded.problems) == CATALOGUE["mascqa"].strata
    assert Counter(p.answer_format for p in loaded.problems) == {
        "choice": 341,
        "numeric": 227,
        "matching": 70,
        "multi_choice": 11,
    }
    by_uid = {p.problem_uid: p for p in loaded.problems}
    assert by_uid["mascqa:G-XEC-2016-14"].reference == "6.00 : 7.30"
    assert by_uid["mascqa:G-META-18-51"].reference == "427 TO 432"
    assert by_uid["mascqa:G-XEC-2016-19"].reference == "42 TO 43"
    assert by_uid["mascqa:G-META-18-36"].answer_format == "matching"
    assert loaded.notes[0] == "1 exact duplicate collapsed: G-XEC-2016-14"
    assert loaded.notes[1].startswith("void references (no answer is right or wrong): 3:")
    assert loaded.notes[2].endswith("written rules: 1: mascqa:G-META-20-22 (48O TO 494)")
    choices = [p for p in loaded.problems if p.answer_format != "numeric"]
    assert [p.problem_uid for p in choices if not p.options] == ["mascqa:G-XEC-2017-2"]
    assert all(shows_options(p.problem, p.options) for p in choices if p.options)


@pytest.mark.parametrize("name", ["jeebench", "scibench", "mascqa"])
def test_known_checksums_and_strata(shared_dir, name):
    loaded = load(shared_dir, name, limit=3)
    known = {file.rpartition("/")[2]: sha for file, sha in CATALOGUE[name].files.items()}
    found = {file.rpartition("/")[2]: sha for file, sha in loaded.checksums.items()}
    assert found == known
    assert not [note for note in loaded.notes if "not the known upstream file" in note]
    strata = list(CATALOGUE[name].strata)
    if strata:
        loaded = load(shared_dir, name, strata=strata[-1:], sha256=loaded.checksums)
        assert len(loaded.problems) == CATALOGUE[name].strata[strata[-1]]
