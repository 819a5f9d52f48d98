"""LAB-Bench, the strict text-only part: multiple-choice biology with long evidence."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_uppercase

from dhd.benchmarks.catalogue import CATALOGUE
from dhd.benchmarks.files import SourceFile, read_rows
from dhd.benchmarks.loaded import Loaded, Loading, note
from dhd.benchmarks.options import letter_of, shuffle_options
from dhd.benchmarks.rows import Row, Text, Trimmed, parse_row
from dhd.errors import BenchmarkError
from dhd.problems import Problem


class _Row(Row):
    id: Trimmed
    question: Text
    ideal: Trimmed
    distractors: list[str]
    canary: str | None


class _ProtocolRow(_Row):
    protocol: Text

    def text(self) -> str:
        return f"Protocol:\n{self.protocol}\n\nQuestion:\n{self.question}"


def load_lab_bench(loading: Loading) -> Loaded:
    """Load the text-only subsets of LAB-Bench; the subset is the stratum.

    Options are the ideal answer and the distractors in an order that follows from row id
    and ideal answer (paper Appendix C shows such letters); the reference is the letter of
    the ideal answer. A ProtocolQA problem shows its protocol before the question. The
    canary, by which the authors find their data in training sets, enters no field.
    """
    wanted = [
        (subset, count)
        for subset, count in CATALOGUE["lab_bench"].strata.items()
        if loading.strata is None or subset in loading.strata
    ]
    if len(wanted) > 1:
        loading.source.need_folder([f"{subset}/*.parquet" for subset, _ in wanted])
    loaded = Loaded(is_partial=loading.strata is not None)
    thinned: list[str] = []
    for subset, count in wanted:
        file = loading.source.read(_patterns(subset))
        values = read_rows(file)
        if len(values) != count and not loading.is_variant:
            raise BenchmarkError(f"{file.path}: found {len(values)} rows, expected {count}")
        for number, value in enumerate(values):
            problem, given = _problem(value, subset, number, file, loading)
            loaded.problems.append(problem)
            if len(problem.options or ()) < given:
                thinned.append(problem.problem_uid)
    if thinned:
        loaded.notes.append(note("problems whose empty or repeated options are left out", thinned))
    return loaded


def _patterns(subset: str) -> tuple[str, ...]:
    names = (f"{subset}/*", subset)
    return tuple(f"{name}.{kind}" for name in names for kind in ("parquet", "jsonl", "json"))


def _problem(
    value: object, subset: str, number: int, file: SourceFile, loading: Loading
) -> tuple[Problem, int]:
    """Return a problem and how many options its row gives."""
    where = f"{file.path}: row {number}"
    row = parse_row(_ProtocolRow if subset == "ProtocolQA" else _Row, value, where)
    text = row.text() if isinstance(row, _ProtocolRow) else row.question
    given = [row.ideal, *(distractor.strip() for distractor in row.distractors)]
    options = shuffle_options(row.id, row.ideal, {option for option in given if option})
    if not 2 <= len(options) <= len(ascii_uppercase):
        raise BenchmarkError(
            f"{where}: distractors: found {len(options)} options, expected 2 to 26"
        )
    problem = Problem(
        problem_uid=f"lab-bench:{subset}:{row.id}",
        benchmark=loading.key,
        problem=text,
        reference=letter_of(row.ideal, options),
        answer_format="choice",
        options=options,
        stratum=subset,
        license=loading.license,
        source=f"{file.name} row {number}",
        source_sha256=file.sha256,
    )
    _refuse_canary({"id": row.id, "text": text, "options": "\n".join(options)}, row.canary, where)
    return problem, len(given)


def _refuse_canary(fields: Mapping[str, str], canary: str | None, where: str) -> None:
    """Stop where a field that is kept holds the canary: it must reach no prompt and no table."""
    if not canary or not canary.strip():
        return
    for name, text in fields.items():
        if canary.strip() in text:
            raise BenchmarkError(f"{where}: {name}: found the canary inside, expected it apart")
