"""The comparison pool: limits, order, death of workers and of the parent; and hostile answers."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from dhd.answers import ComparisonPool, compare_answers
from dhd.answers.pool import PoolError
from dhd.problems import AnswerFormat, Problem

# The library integrates numerically for minutes; the rules defer integrals at once.
BOMB = r"\int_0^{1} \sqrt{\sin(x^3+x)} dx"


def math_problem(reference: str) -> Problem:
    return Problem("p", "own", "", reference, "math")


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_two_thousand_ordinary_comparisons_are_cheap() -> None:
    pairs = [(math_problem(rf"\frac{{{n}}}{{7}}"), f"{n + n % 2}/7") for n in range(1, 2001)]
    start = time.monotonic()
    with ComparisonPool() as pool:
        results = pool.compare_many(pairs)
    assert time.monotonic() - start < 20
    assert [result.equivalent for result in results] == [n % 2 == 0 for n in range(1, 2001)]


def test_a_bomb_ends_at_the_limit_and_the_next_answer_is_judged() -> None:
    with ComparisonPool(limit_s=1.0) as pool:
        pool.compare(math_problem(r"\sum_{k=1}^{3} k"), "6")  # loads the library
        start = time.monotonic()
        bomb, after = pool.compare_many([(math_problem("1"), BOMB), (math_problem("1"), "1.0")])
        took = time.monotonic() - start
    assert (bomb.equivalent, bomb.reason) == (None, "time_limit")
    assert after.equivalent is True
    assert took < 1.0 + 1.0 + 1.0  # limit, promised slack, start of the next worker


def test_results_keep_the_order_of_the_pairs_with_several_workers() -> None:
    pairs = [(math_problem(str(n)), str(n if n % 3 else -n)) for n in range(1, 60)]
    with ComparisonPool(workers=2) as pool:
        results = pool.compare_many(pairs)
    assert [result.equivalent for result in results] == [bool(n % 3) for n in range(1, 60)]


def test_the_pool_works_from_a_thread() -> None:
    found: list[bool | None] = []

    def work() -> None:
        with ComparisonPool() as pool:
            found.append(pool.compare(math_problem(r"\frac{57}{320}"), "57/320").equivalent)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [True]


def test_a_dead_worker_is_a_deferred_comparison_and_is_replaced() -> None:
    with ComparisonPool() as pool:
        assert pool.compare(math_problem("2"), "2").equivalent is True
        process = pool._workers[0]._process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        crashed = pool.compare(math_problem("2"), "2")
        assert (crashed.equivalent, crashed.reason) == (None, "crashed")
        assert pool.compare(math_problem("2"), "3").equivalent is False


def test_no_worker_is_left_after_close() -> None:
    with ComparisonPool() as pool:
        pool.compare(math_problem("2"), "2")
        process = pool._workers[0]._process
        assert process is not None
    assert not alive(process.pid)
    pool.close()


@pytest.mark.parametrize("busy", [False, True])
def test_no_worker_outlives_a_killed_parent(busy: bool) -> None:
    """An idle worker sees its input end; a busy one is ended by its own timer."""
    script = f"""
import threading
from dhd.answers import ComparisonPool
from dhd.problems import Problem
pool = ComparisonPool(limit_s=1.0)
pool.compare(Problem("p", "", "", r"\\sum_{{k=1}}^{{3}} k", "math"), "6")
print(pool._workers[0]._process.pid, flush=True)
if {busy}:
    pool.compare(Problem("p", "", "", "1", "math"), {BOMB!r})
threading.Event().wait()
"""
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout:
        worker = int(parent.stdout.readline())
        time.sleep(0.3)
        assert alive(worker)
        parent.kill()
        parent.wait()
    deadline = time.monotonic() + 5
    while alive(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(worker)


@pytest.mark.parametrize(("limit_s", "workers"), [(0.0, 1), (-1.0, 1), (5.0, 0)])
def test_parameters_must_be_positive(limit_s: float, workers: int) -> None:
    with pytest.raises(PoolError, match="must both be positive"):
        ComparisonPool(limit_s=limit_s, workers=workers)


HOSTILE = {
    "tower": "9^{9^{9^{9}}}",
    "long tower": "^".join(["9"] * 50),
    "rational tower": r"7^{\frac{123456789123456789123}{1234567891}}",
    "factorial": "(10^{9}+7)!",
    "nested factorials": "9!!!!!!!!",
    "power of a power": "2^{50^{7}}",
    "large root": r"\sqrt[10^{9}]{10^{10^{9}}}",
    "binomial": r"\binom{10^{12}}{10^{6}}",
    "sine of a tower": r"\sin(10^{10^{5}})",
    "exponential": r"\exp(10^{12})",
    "scientific": "1e999999999",
    "digits": "7" * 5000,
    "decimals": "0." + "7" * 5000,
    "sum of powers": "+".join(f"{n}^{{{n}}}" for n in range(2, 400)),
    "sum of fractions": "+".join(rf"\frac{{1}}{{{n}}}" for n in range(2, 600)),
    "symbols": "+".join(f"y_{{{n}}}" for n in range(2000)),
    "deep fractions": r"\frac{1}{1+" * 400 + "1" + "}" * 400,
    "deep brackets": "(" * 3000 + "1" + ")" * 3000,
    "open brackets": "(" * 10_000,
    "open braces": "{" * 10_000,
    "signs": "-" * 5000 + "1",
    "commas": "," * 10_000,
    "equals": "=" * 10_000,
    "many equations": "x=" * 3000 + "1",
    "spaces": "1" + " " * 500_000 + "3",
    "dollars": "$" * 50_000,
    "texts": r"\text{" * 3000 + "1" + "}" * 3000,
    "a megabyte": r"\frac{1}{2}+" * 90_000 + "1",
    "a megabyte of digits": "9" * 1_000_000,
    "backslashes": "\\" * 20_000,
    "matrix": r"\begin{pmatrix}" + "1&" * 3000 + r"1\end{pmatrix}",
    "list": ",".join(map(str, range(3000))),
    "unions": r"(1,2)\cup" * 2000 + "(1,2)",
    "plus minus": r"\pm" * 3000 + "1",
    "products": "x" + "(x+1)" * 900,
    "import": "__import__('os').system('touch executed')",
    "exec": "exec(\"open('executed', 'w')\")",
    "lambda": "(lambda: open('executed', 'w'))()",
    "class walk": "().__class__.__bases__[0].__subclasses__()",
    "symbol": "Symbol('__import__(\"os\").getcwd()')",
    "conditional": "4 if exec('x=1') is None else 5",
    "print": "print(4)",
    "template": "{{7*7}}",
    "latex input": r"\input{/etc/passwd}",
    "latex write": r"\immediate\write18{touch executed}",
    "null": "\x00",
    "surrogate": "\ud800",
    "controls": "".join(map(chr, range(32))),
}


FORMATS: dict[AnswerFormat, tuple[str, tuple[str, ...] | None]] = {
    "math": ("4", None),
    "integer": ("4", None),
    "numeric": ("4", None),
    "text": ("tin", None),
    "choice": ("A", ("tin", "lead")),
    "multi_choice": ("AB", ("tin", "lead")),
    "matching": ("A", ("P-1, Q-2", "P-2, Q-1")),
}


@pytest.mark.parametrize("answer", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_answers_are_never_right_and_never_slow(
    answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for answer_format, (reference, options) in FORMATS.items():
        problem = Problem("p", "own", "", reference, answer_format, options)
        start = time.monotonic()
        outcome = compare_answers(problem, answer)
        assert time.monotonic() - start < 5, answer_format
        assert outcome.equivalent is not True, answer_format
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["tower", "deep fractions", "a megabyte", "digits"])
def test_identical_strings_are_right_without_evaluation(name: str) -> None:
    assert compare_answers(math_problem(HOSTILE[name]), HOSTILE[name]).equivalent is True
