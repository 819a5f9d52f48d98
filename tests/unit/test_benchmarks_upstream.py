"""The loaders of the five benchmarks, on own-written files in the upstream formats."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from dhd.benchmarks import LoadedBenchmark, load_benchmark, problem_count
from dhd.benchmarks.catalogue import CATALOGUE
from dhd.benchmarks.omni_math_2 import difficulty_tier
from dhd.config.benchmarks import BenchmarkSettings
from support import benchmark_files as files


def load(loader: str, path: Path, **settings) -> LoadedBenchmark:
    settings = BenchmarkSettings(loader=loader, path=str(path), **settings)
    loaded = load_benchmark(loader, settings, path)
    assert len(loaded.problems) == problem_count(loader, settings, path)
    return loaded


def by_uid(loaded: LoadedBenchmark) -> dict:
    return {problem.problem_uid: problem for problem in loaded.problems}


@pytest.fixture(scope="module")
def omni_full(tmp_path_factory) -> Path:
    return files.write_rows(tmp_path_factory.mktemp("omni") / "omni.jsonl", files.omni_rows())


@pytest.fixture(scope="module")
def lab_full(tmp_path_factory) -> Path:
    return files.write_lab_bench(tmp_path_factory.mktemp("lab"))


@pytest.mark.parametrize(
    ("difficulty", "tier"),
    [(0.0, 1), (1.0, 1), (1.5, 2), (2.5, 3), (4.49, 4), (4.5, 5), (9.5, 10), (10.0, 10), (12, 10)],
)
def test_tier_is_rounded_half_up_and_clamped(difficulty, tier):
    assert difficulty_tier(difficulty) == tier


def test_omni_keeps_untagged_rows_and_numbers_them_among_all(omni_full):
    loaded = load("omni_math_2", omni_full)
    rows = files.omni_rows()
    kept = [number for number, row in enumerate(rows) if not row["tags"]]
    assert len(loaded.problems) == 4181
    assert [int(p.problem_uid[-4:]) for p in loaded.problems] == kept
    first_half = next(n for n in kept if rows[n]["difficulty"] == 2.5)
    problem = by_uid(loaded)[f"omni2:t3:{first_half:04d}"]
    assert problem.reference == rows[first_half]["answer"]
    assert problem.problem == rows[first_half]["problem"]
    assert (problem.stratum, problem.answer_format, problem.options) == ("t3", "math", None)
    assert problem.license == "Apache-2.0"
    assert problem.source_sha256 == hashlib.sha256(omni_full.read_bytes()).hexdigest()
    assert loaded.notes == ("247 of 4428 rows have a tag: left out",)


def test_omni_formats_give_the_same_problems(tmp_path):
    rows = files.omni_rows(rows=40, tagged=4)
    loaded = [
        load("omni_math_2", files.write_rows(tmp_path / name, rows), expected_count=36)
        for name in ("a.jsonl", "b.json", "c.parquet")
    ]
    kept = [[(p.problem_uid, p.problem, p.reference) for p in one.problems] for one in loaded]
    assert kept[0] == kept[1] == kept[2]


@pytest.mark.parametrize("empty", [[], "", None, "[]"])
def test_omni_reads_every_way_to_write_no_tag(tmp_path, empty):
    rows = [{**row, "tags": empty} for row in files.omni_rows(rows=3, tagged=0)]
    path = files.write_rows(tmp_path / "omni.jsonl", [*rows, {**rows[0], "tags": "proof"}])
    assert len(load("omni_math_2", path, expected_count=3).problems) == 3


def test_omni_strata_and_limit(omni_full):
    settings = {"strata": ["t10", "t3"], "limit": 7}
    loaded = load("omni_math_2", omni_full, **settings)
    every = [p for p in load("omni_math_2", omni_full).problems if p.stratum in ("t10", "t3")]
    assert list(loaded.problems) == every[:7]


def test_lab_bench_full(lab_full):
    loaded = load("lab_bench", lab_full)
    assert Counter(p.stratum for p in loaded.problems) == files.LAB_BENCH_SIZES
    rows = {
        f"lab-bench:{subset}:{row['id']}": row
        for subset, size in files.LAB_BENCH_SIZES.items()
        for row in files.lab_bench_rows(subset, size)
    }
    for problem in loaded.problems:
        row = rows[problem.problem_uid]
        assert problem.options["ABCD".index(problem.reference)] == row["ideal"]
        assert sorted(problem.options) == sorted([row["ideal"], *row["distractors"]])
        assert row["question"] in problem.problem
        assert row.get("protocol", "") in problem.problem
        assert problem.answer_format == "choice"
        assert problem.license == CATALOGUE["lab_bench"].license
    assert files.CANARY not in repr(loaded)
    assert "never used for training" in loaded.problems[0].license
    letters = Counter(p.reference for p in loaded.problems)
    # Pearson's statistic against equal shares; 11.34 is the 99 % point for 3 degrees of freedom.
    assert sum((letters[letter] - 741 / 4) ** 2 / (741 / 4) for letter in "ABCD") < 11.34


def test_lab_bench_order_depends_on_row_id_and_ideal_alone(tmp_path):
    row = files.lab_bench_rows("SeqQA", 1)[0]
    turned = {**row, "distractors": row["distractors"][::-1]}
    others = [{**row, "id": f"row-{number}"} for number in range(20)]
    one, same, many = (
        load(
            "lab_bench",
            files.write_rows(tmp_path / name / "SeqQA.jsonl", rows).parent,
            strata=["SeqQA"],
            expected_count=len(rows),
        ).problems
        for name, rows in (("one", [row]), ("same", [turned]), ("many", others))
    )
    assert one[0].options == same[0].options
    assert len({problem.options for problem in many}) > 10


def test_lab_bench_reads_the_wanted_subset_only(lab_full, tmp_path):
    (tmp_path / "SeqQA").symlink_to(lab_full / "SeqQA")
    loaded = load("lab_bench", tmp_path, strata=["SeqQA"], limit=5)
    assert [p.stratum for p in loaded.problems] == ["SeqQA"] * 5


def test_lab_bench_leaves_out_repeated_and_empty_options(tmp_path):
    row = {**files.lab_bench_rows("SeqQA", 1)[0], "ideal": "51"}
    row["distractors"] = ["50", " 51 ", "", "52"]
    path = files.write_rows(tmp_path / "SeqQA.jsonl", [row]).parent
    loaded = load("lab_bench", path, strata=["SeqQA"], expected_count=1)
    assert sorted(loaded.problems[0].options) == ["50", "51", "52"]
    assert loaded.notes[0].startswith("problems whose empty or repeated options are left out: 1:")


def test_jeebench_types_decide_the_format(tmp_path):
    path = files.write_rows(tmp_path / "data" / "dataset.json", files.jeebench_rows()).parents[1]
    loaded = load("jeebench", path, expected_count=5)
    choice, multi, integer, numeric, uncertain = loaded.problems
    assert choice.problem_uid == "jeebench:Own Exam 2020 Paper 1:1"
    assert [p.answer_format for p in loaded.problems] == [
        "choice",
        "multi_choice",
        "integer",
        "numeric",
        "choice",
    ]
    assert choice.options == ("two", "three, see P(A)", "five", "seven")
    assert multi.options == ("two", "three, see P[A]", "five", "seven")
    assert multi.reference == "BCD"
    assert multi.stratum == "MCQ(multiple)"
    assert integer.options is numeric.options is uncertain.options is None
    assert "(B) three" in uncertain.problem
    assert uncertain.problem_uid in loaded.notes[0]
    assert choice.license == "MIT"


def test_scibench_units_and_reused_ids(tmp_path):
    folder = tmp_path / "dataset" / "original"
    files.write_rows(folder / "quan.json", files.scibench_rows("quan", ["2.13", "2.13", "3.1"]))
    files.write_rows(folder / "atkins.json", files.scibench_rows("atkins", ["2.13"], unit=" "))
    files.write_rows(folder / "quan_sol.json", files.scibench_rows("quan", ["9.9"]))
    loaded = load("scibench", tmp_path, expected_count=4)
    texts = [row["problem_text"] for row in files.scibench_rows("quan", ["2.13", "2.13"])]
    hashes = [hashlib.sha256(text.encode()).hexdigest()[:8] for text in texts]
    assert [problem.problem_uid for problem in loaded.problems] == [
        "scibench:atkins:2.13",
        f"scibench:quan:2.13:{hashes[0]}",
        f"scibench:quan:2.13:{hashes[1]}",
        "scibench:quan:3.1",
    ]
    assert [problem.unit for problem in loaded.problems][:2] == [None, "$10^{3} \\mathrm{m}$"]
    assert [problem.reference for problem in loaded.problems] == ["2", "2", "3", "4"]
    assert loaded.problems[1].problem == texts[0]
    assert loaded.notes[0] == "reused ids told apart by their text: 1: quan 2.13"


def test_mascqa_formats_references_and_options(tmp_path):
    loaded = load("mascqa", files.write_mascqa(tmp_path), expected_count=11)
    short = {
        uid.rpartition("-")[2]: (p.answer_format, p.reference, p.options)
        for uid, p in by_uid(loaded).items()
    }
    assert short == {
        "1": ("choice", "B", ("Fe", "Hg", "Cu", "Al")),
        "2": ("multi_choice", "A; C", ("cork", "lead", "wood", "iron")),
        "3": ("matching", "C OR D", ("P-1", "P-2", "P-3", "P-4")),
        "4": ("numeric", "372 TO 374", None),
        "5": ("numeric", "0", None),
        "6": ("numeric", "0.5", None),
        "7": ("numeric", "Marks to all", None),
        "8": ("numeric", "1O TO 20", None),
        "9": ("choice", "B", ("5", "6", "7", "8")),
        "10": ("choice", "D", None),
        "11": ("numeric", "−1,420 to −1,380", None),
    }
    assert {p.stratum for p in loaded.problems} == {"MCQS", "MCQS-NUM", "MATCH", "NUM"}
    notes = "\n".join(loaded.notes)
    assert "void references (no answer is right or wrong): 1: mascqa:G-OWN-1-7" in notes
    assert "references outside the written rules: 1: mascqa:G-OWN-1-8 (1O TO 20)" in notes
    assert "G-OWN-1-11" not in notes


def test_mascqa_collapses_exact_duplicates(tmp_path):
    twice = (*files.MASCQA_QUESTIONS, files.MASCQA_QUESTIONS[-1])
    loaded = load("mascqa", files.write_mascqa(tmp_path, twice), expected_count=11)
    assert loaded.notes[0] == "1 exact duplicate collapsed: G-OWN-1-11"


def test_changed_upstream_file_is_noted(tmp_path):
    path = files.write_rows(tmp_path / "dataset.json", files.jeebench_rows())
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    loaded = load("jeebench", path, expected_count=5)
    assert loaded.checksums == {"dataset.json": found}
    assert any("dataset.json is not the known upstream file" in note for note in loaded.notes)


def test_json_lines_end_at_line_feeds_alone(tmp_path):
    row = {**files.omni_rows(rows=1, tagged=0)[0], "problem": "one\u2028two\x85three"}
    path = tmp_path / "omni.jsonl"
    path.write_text(json.dumps(row, ensure_ascii=False) + "\r\n\n", encoding="utf-8-sig")
    assert load("omni_math_2", path, expected_count=1).problems[0].problem == row["problem"]
