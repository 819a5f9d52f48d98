"""Benchmark settings, counts that need no file, users' files, option texts, the command."""

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from dhd.benchmarks import load_benchmark, problem_count
from dhd.benchmarks.mascqa_golds import gold_shape
from dhd.benchmarks.options import INLINE_MARKER, LINE_MARKER, parse_options, shows_options
from dhd.cli import main
from dhd.config.benchmarks import BenchmarkSettings
from support import benchmark_files as files

REVISION = "0123456789abcdef0123456789abcdef01234567"
SHA = "ab" * 32
LAB_FILES = {
    f"{subset}/train-00000-of-00001.parquet": SHA
    for subset in ("SeqQA", "ProtocolQA", "CloningScenarios")
}


def remote(loader: str, **settings) -> BenchmarkSettings:
    return BenchmarkSettings.model_validate({"loader": loader, "remote": settings})


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"loader": "jeebench"}, "exactly one of path"),
        ({"loader": "jeebench", "path": "x", "remote": {"revision": REVISION}}, "exactly one of"),
        ({"loader": "jeebench", "path": "x", "url": "y"}, "Extra inputs"),
        ({"loader": "gsm8k", "path": "x"}, "omni_math_2"),
        ({"loader": "jeebench", "path": "x", "limit": 0}, "greater than 0"),
        ({"loader": "jeebench", "path": "x", "limit": "3"}, "valid integer"),
        ({"loader": "jeebench", "path": "x", "strata": ["Essay"]}, "expected some of MCQ"),
        ({"loader": "jeebench", "path": "x", "strata": ["MCQ", "MCQ"]}, "repeated"),
        ({"loader": "scibench", "path": "x", "strata": ["quan"]}, "scibench has none"),
        ({"loader": "jeebench", "path": "x", "sha256": {"a": "12"}}, "match pattern"),
        ({"loader": "jeebench", "path": "x", "sha256": {"../a": SHA}}, "relative file name"),
        (
            {"loader": "jeebench", "remote": {"revision": REVISION}, "sha256": {"a": SHA}},
            "remote.files",
        ),
    ],
)
def test_refused_settings(settings, match):
    with pytest.raises(ValidationError, match=match):
        BenchmarkSettings.model_validate(settings)


@pytest.mark.parametrize(
    ("loader", "settings", "match"),
    [
        ("jeebench", {}, "git ls-remote https://github.com/dair-iitd/jeebench HEAD"),
        ("jeebench", {"revision": "main"}, "match pattern"),
        ("omni_math_2", {"revision": REVISION}, "remote.files is missing: fetch the data once"),
        ("omni_math_2", {}, "revision is missing.*remote.files is missing"),
        ("lab_bench", {}, "lacks the sha256 of SeqQA/train-00000-of-00001.parquet, Proto"),
        ("user", {"revision": REVISION}, "give repository or url"),
        ("user", {"url": "http://example.org/{revision}"}, "must start with https"),
        ("user", {"url": "https://example.org/data"}, "must have {revision}"),
        ("user", {"repository": "a/b", "url": "https://e.org/{revision}"}, "exclude each other"),
        ("user", {"repository": "https://huggingface.co/a/b"}, "match pattern"),
        ("user", {"repository": "a/b", "files": {"/etc/x": SHA}}, "relative file name"),
    ],
)
def test_refused_remotes(loader, settings, match):
    with pytest.raises(ValidationError, match=match):
        remote(loader, **settings)


def test_known_upstream_fills_in(monkeypatch):
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    (file,) = remote("jeebench", revision=REVISION).remote_files()
    assert file.url == (
        f"https://raw.githubusercontent.com/dair-iitd/jeebench/{REVISION}/data/dataset.json"
    )
    assert file.sha256.startswith("c9e46ee7")
    lab = remote("lab_bench", files=LAB_FILES)
    assert lab.remote_files()[0].url == (
        "https://huggingface.co/datasets/futurehouse/lab-bench/resolve/"
        "5c77cec648430f30611808808861eb86f81d5eaa/SeqQA/train-00000-of-00001.parquet"
    )
    assert lab.checksums() == LAB_FILES
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example/")
    own = remote("user", repository="me/own", revision=REVISION, files={"data/a b.jsonl": SHA})
    assert own.remote_files()[0].url == (
        f"https://mirror.example/datasets/me/own/resolve/{REVISION}/data/a%20b.jsonl"
    )


@pytest.mark.parametrize(
    ("loader", "settings", "count"),
    [
        ("omni_math_2", {}, 4181),
        ("jeebench", {}, 515),
        ("scibench", {}, 580),
        ("lab_bench", {}, 741),
        ("mascqa", {}, 649),
        ("lab_bench", {"strata": ["SeqQA", "CloningScenarios"]}, 633),
        ("mascqa", {"strata": ["MATCH"]}, 70),
        ("jeebench", {"strata": ["Integer"], "limit": 50}, 50),
        ("scibench", {"limit": 1000}, 580),
        ("omni_math_2", {"strata": ["t9"], "expected_count": 33}, 33),
        ("user", {"expected_count": 8, "limit": 20}, 8),
    ],
)
def test_counts_known_without_a_file(loader, settings, count):
    assert problem_count("x", BenchmarkSettings(loader=loader, path="x", **settings), None) == count


def test_counting_imports_nothing_heavy():
    code = (
        "import sys; from pathlib import Path; from dhd.benchmarks import problem_count;"
        "from dhd.config.benchmarks import BenchmarkSettings as S;"
        "print(problem_count('x', S(loader='mascqa', path='x'), None));"
        "print([m for m in ('pyarrow', 'openpyxl', 'pandas', 'numpy') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split("\n")[:2] == ["649", "[]"]


def test_user_file(tmp_path: Path):
    path = files.write_rows(tmp_path / "own.jsonl", files.user_rows())
    settings = BenchmarkSettings(loader="user", path=str(path))
    loaded = load_benchmark("mine", settings, path)
    number, choice, speed = loaded.problems
    assert [p.problem_uid for p in loaded.problems] == ["mine:sum-1", "mine:pick-1", "mine:speed-1"]
    assert (choice.options, choice.reference, choice.stratum) == (("cat", "owl"), "B", "animals")
    assert (choice.license, choice.source) == ("CC0-1.0", "own.jsonl line 2")
    assert (number.options, number.license, speed.unit) == (None, "unspecified", "km/h")
    assert problem_count("mine", settings, path) == 3
    animals = BenchmarkSettings(loader="user", path=str(path), strata=["animals"])
    assert problem_count("mine", animals, path) == 1
    assert problem_count("mine", settings, tmp_path) == 3


@pytest.mark.parametrize(
    ("reference", "answer_format"),
    [("B OR A", "choice"), ("AB", "multi_choice"), ("A; B", "multi_choice"), ("B", "multi_choice")],
)
def test_user_letter_references(tmp_path, reference, answer_format):
    row = {**files.user_rows()[1], "reference": reference, "answer_format": answer_format}
    path = files.write_rows(tmp_path / "own.jsonl", [row])
    loaded = load_benchmark("mine", BenchmarkSettings(loader="user", path=str(path)), path)
    assert loaded.problems[0].reference == reference


@pytest.mark.parametrize(
    ("text", "marker", "options"),
    [
        ("Q? (A) a (B) b (C) c (D) d", INLINE_MARKER, ("a", "b", "c", "d")),
        ("Carbon (C)? (A) a (B) b (C) c (D) d ", INLINE_MARKER, ("a", "b", "c", "d")),
        ("P(A)? Options:(A) P(B) (B) b (C) c (D) d", INLINE_MARKER, ("P(B)", "b", "c", "d")),
        ("Q? (A) see (C) now (B) b (C) c (D) d", INLINE_MARKER, None),
        ("Q? (A) a (B) b (C) c", INLINE_MARKER, None),
        ("Q? (A) a (B) b (C) (D) d", INLINE_MARKER, None),
        ("Q? (A) a (B) b (C) b (D) d", INLINE_MARKER, None),
        ("Q\n(A) a (C)\n[B]b\n(C) c\n\nc2\n(D) d", LINE_MARKER, ("a (C)", "b", "c\n\nc2", "d")),
        ("Q (A) a\n(B) b\n(C) c\n(D) d", LINE_MARKER, None),
        ("no options", LINE_MARKER, None),
    ],
)
def test_option_texts(text, marker, options):
    assert parse_options(text, marker) == options
    if options is not None:
        assert shows_options(text, options)


def test_options_that_are_not_shown():
    assert not shows_options("Which base of ACGT?", ("A", "C", "G", "T"))
    assert not shows_options("(A) a (B) b", ("b", "a"))


@pytest.mark.parametrize(
    ("gold", "shape"),
    [
        ("B", "letter"),
        ("A,B,D", "letters"),
        ("B; D", "letters"),
        ("C OR D", "alternatives"),
        ("300", "number"),
        ("-0.25", "number"),
        ("71,208.35", "number"),
        ("6.00 : 7.30", "range"),
        ("350 T0 350", "range"),
        ("−5.5 to −4.5", "range"),
        ("0.90 TO 0.94 OR -0.94 TO -0.90", "range"),
        ("MARKS TO ALL", "void"),
        ("Marks to all", "void"),
        ("48O TO 494", "other"),
        ("about 3", "other"),
    ],
)
def test_gold_shapes(gold, shape):
    assert gold_shape(gold) == shape


def test_command(tmp_path, capsys):
    folder = files.write_mascqa(tmp_path)
    arguments = ["benchmarks", "--loader", "mascqa", "--path", str(folder)]
    assert main([*arguments, "--expected-count", "11"]) == 0
    shown = capsys.readouterr().out
    assert "11 problems\n" in shown
    assert "strata: MCQS 3, MATCH 1, NUM 6, MCQS-NUM 1" in shown
    assert "multi_choice 1" in shown
    assert "  scoresheets/all_questions.xlsx" in shown
    assert "note: void references" in shown
    assert main(arguments) == 2
    assert "found 11 problems" in capsys.readouterr().err
    assert main([*arguments, "--strata", "t1"]) == 2
    assert "strata: unknown t1" in capsys.readouterr().err
