"""Stand-in problems: their numbers, their answers, and their files."""

from collections import Counter
from pathlib import Path

import pytest

from dhd.answers import ComparisonPool
from dhd.benchmarks import load_benchmark
from dhd.benchmarks.catalogue import CATALOGUE
from dhd.config.benchmarks import BenchmarkSettings
from dhd.simulation.files import write_stand_ins
from dhd.simulation.stand_ins import PREFIXES, code_in, codes, stand_in
from dhd.simulation.verdicts import same_answer
from support.simulated import problem

SAMPLE = [code for benchmark in PREFIXES.values() for code in codes(benchmark)[::60]]


@pytest.mark.parametrize("benchmark", PREFIXES.values())
def test_as_many_problems_and_strata_as_the_paper_has(benchmark: str) -> None:
    items = [stand_in(code) for code in codes(benchmark)]
    assert len(items) == CATALOGUE[benchmark].count
    found = Counter(item.stratum for item in items)
    for stratum, count in CATALOGUE[benchmark].strata.items():
        assert found[stratum] == count if count is not None else found[stratum] > 0


def test_a_text_names_its_item_and_holds_no_reference_of_its_own() -> None:
    for code in SAMPLE:
        assert code_in(stand_in(code).problem) == code
    assert code_in("Section [OM-291] and [XX-00291]") is None


def test_answers_and_options_of_every_item_differ() -> None:
    for benchmark in PREFIXES.values():
        for code in codes(benchmark):
            item = stand_in(code).item
            assert len({item.right, *item.wrong}) == 4, code
            assert item.options is None or len(set(item.options)) == len(item.options), code


def test_rules_and_the_simulated_evaluator_agree_with_what_is_planted() -> None:
    pairs, planted = [], []
    for code in SAMPLE:
        item = stand_in(code).item
        forms = [form for form in (item.right, item.other_form) if form is not None]
        for answer in (*forms, *item.wrong):
            pairs.append((problem(code), answer))
            planted.append(answer in forms)
    with ComparisonPool(limit_s=5.0) as pool:
        ruled = [result.equivalent for result in pool.compare_many(pairs)]
    assert ruled == planted
    assert [same_answer(one.reference, answer) for one, answer in pairs] == planted


def test_files_load_as_a_users_benchmark_and_repeat_themselves(tmp_path: Path) -> None:
    counts = write_stand_ins(tmp_path / "a", limit=30)
    assert counts == dict.fromkeys(PREFIXES.values(), 30)
    write_stand_ins(tmp_path / "b", limit=30)
    for benchmark in counts:
        path = tmp_path / "a" / f"{benchmark}.jsonl"
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
        settings = BenchmarkSettings(loader="user", path=str(path))
        loaded = load_benchmark(benchmark, settings, path).problems
        assert len(loaded) == 30
        for one in loaded:
            expected = problem(one.problem_uid.partition(":")[2])
            assert (one.problem, one.reference, one.options, one.unit, one.stratum) == (
                expected.problem,
                expected.reference,
                expected.options,
                expected.unit,
                expected.stratum,
            )


def test_a_limit_spreads_over_all_strata(tmp_path: Path) -> None:
    write_stand_ins(tmp_path, limit=20)
    text = (tmp_path / "jeebench.jsonl").read_text()
    assert all(f'"{stratum}"' in text for stratum in CATALOGUE["jeebench"].strata)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (r"\frac{3}{4}", "3/4", True),
        ("0.75", r"\frac{6}{8}", True),
        (r"2\sqrt{5}", r"\sqrt{20}", True),
        ("A, C", "CA", True),
        ("P-1, Q-2", "p-1,q-2", True),
        ("1.089e+02", "108.9", True),
        ("108.9", "108.91", False),
        ("A", "A, C", False),
        (r"\frac{3}{0}", "3", False),
        ("", "0", False),
    ],
)
def test_forms_of_one_answer(one: str, other: str, same: bool) -> None:
    assert same_answer(one, other) is same
