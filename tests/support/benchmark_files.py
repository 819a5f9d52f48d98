"""Own-written files in the formats of the upstream benchmarks, generated from a seed.

The wording, numbers and ids are made up here; nothing is taken from a benchmark.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

OMNI_ROWS, OMNI_TAGGED = 4428, 247
LAB_BENCH_SIZES = {"SeqQA": 600, "ProtocolQA": 108, "CloningScenarios": 33}
CANARY = "own-canary:7c1d9a52"


def omni_rows(
    rows: int = OMNI_ROWS, tagged: int = OMNI_TAGGED, seed: int = 1
) -> list[dict[str, Any]]:
    """Return rows of Omni-MATH-2; ``tagged`` of them, spread over the file, carry a tag."""
    rng = random.Random(seed)
    with_tag = set(rng.sample(range(rows), tagged))
    made = []
    for number in range(rows):
        first, second = rng.randint(2, 99), rng.randint(2, 99)
        made.append(
            {
                "domain": ["Mathematics -> Own examples"],
                "difficulty": rng.choice([1.0, 2.5, 4.0, 4.49, 5.5, 9.0, 9.5]),
                "problem": f"Jar {number} holds {first} red and {second} blue beads. How many?",
                "solution": f"Add them: {first + second}.",
                "answer": str(first + second),
                "source": "own",
                "tags": [rng.choice(["proof", "estimation", "image"])]
                if number in with_tag
                else [],
            }
        )
    return made


def lab_bench_rows(subset: str, rows: int, seed: int = 2) -> list[dict[str, Any]]:
    """Return rows of one LAB-Bench subset, with three distractors each."""
    rng = random.Random(f"{seed}:{subset}")
    made = []
    for number in range(rows):
        sequence = "".join(rng.choices("ACGT", k=60))
        ideal, *distractors = (str(n) for n in rng.sample(range(10, 90), 4))
        row: dict[str, Any] = {
            "id": str(uuid.UUID(int=rng.getrandbits(128))),
            "question": f"Question {number}: what share of {sequence} is G or C, in percent?",
            "ideal": ideal,
            "distractors": distractors,
            "canary": CANARY,
            "subtask": f"{subset.lower()}-own",
        }
        if subset == "ProtocolQA":
            row["protocol"] = f"1. Mix tube {number}.\n2. Wait {rng.randint(2, 9)} minutes."
        made.append(row)
    return made


def jeebench_rows() -> list[dict[str, Any]]:
    """Return one row of each JEEBench type, and a choice problem with uncertain options."""
    options = "\n\n(A) two\n\n(B) three, see P(A)\n\n(C) five\n\n(D) seven"
    kinds = [
        ("MCQ", f"How many wheels has a tricycle?{options}", "B"),
        ("MCQ(multiple)", f"Which are odd?{options.replace('(', '[').replace(')', ']')}", "BCD"),
        ("Integer", "How many days has a week?", "7"),
        ("Numeric", "What is half of 5?", "2.5"),
        ("MCQ", "Which is even? (A) two (B) three\n\n(C) five\n\n(D) seven", "A"),
    ]
    return [
        {
            "description": "Own Exam 2020 Paper 1",
            "index": number,
            "subject": "math",
            "type": kind,
            "question": question,
            "gold": gold,
        }
        for number, (kind, question, gold) in enumerate(kinds, start=1)
    ]


def scibench_rows(
    source: str, ids: Sequence[str], unit: str = " $10^{3} \\mathrm{m}$ "
) -> list[dict[str, Any]]:
    """Return rows of one SciBench file; the text is another one in every row."""
    return [
        {
            "problem_text": f"Road {number} of {source} is {number + 2} km long. Length?\r\n",
            "answer_latex": f" {number + 2}",
            "answer_number": f" {number + 2} ",
            "unit": unit,
            "source": source,
            "problemid": f" {name} ",
            "comment": " ",
        }
        for number, name in enumerate(ids)
    ]


#: MaScQA: id, type, question, answer cell (numbers where the real sheet has numbers).
MASCQA_QUESTIONS: tuple[tuple[str, str, str, Any], ...] = (
    ("G-OWN-1-1", "MCQS", "Which metal is liquid?  (A) Fe (B) Hg (C) Cu (D) Al ", "B"),
    ("G-OWN-1-2", "MCQS", "Which float?  (A) cork (B) lead (C) wood (D) iron", "A; C"),
    ("G-OWN-1-3", "MATCH", "Match.  Options: (A) P-1 (B) P-2 (C) P-3 (D) P-4", "C OR D"),
    ("G-OWN-1-4", "NUM", "Boiling point of water in K?", "372 TO 374"),
    ("G-OWN-1-5", "NUM", "Melting point of ice in °C?", 0),
    ("G-OWN-1-6", "NUM", "Half as a number?", 0.5),
    ("G-OWN-1-7", "NUM", "A withdrawn question?", "Marks to all "),
    ("G-OWN-1-8", "NUM", "A gold with a typo?", "1O TO 20"),
    ("G-OWN-1-9", "MCQS-NUM", "For carbon (C), Z is  (A) 5 (B) 6 (C) 7 (D) 8", "B"),
    ("G-OWN-1-10", "MCQS", "Glued markers(A) a (B) b(C) c (D) d", "D"),
    ("G-OWN-1-11", "NUM", "A temperature with a sign?", " −1,420 to −1,380"),
)


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write rows as Parquet, a JSON array or JSON lines, by the file's suffix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(list(rows)), path)
    elif path.suffix == ".json":
        path.write_text(json.dumps(list(rows), ensure_ascii=False), encoding="utf-8")
    else:
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_lab_bench(
    folder: Path, sizes: Mapping[str, int] = LAB_BENCH_SIZES, suffix: str = ".parquet"
) -> Path:
    """Write the LAB-Bench subsets as Hugging Face lays them out."""
    for subset, rows in sizes.items():
        name = f"train-00000-of-00001{suffix}"
        write_rows(folder / subset / name, lab_bench_rows(subset, rows))
    return folder


def write_mascqa(
    folder: Path,
    questions: Sequence[tuple[str, str, str, Any]] = MASCQA_QUESTIONS,
    answers: Sequence[tuple[str, str, str, Any]] | None = None,
) -> Path:
    """Write MaScQA's question file, two topics, and its score sheet."""
    half = len(questions) // 2
    topics = {
        topic: {
            "qids": [row[0] for row in part],
            "qstr": [row[1] for row in part],
            "num_words": [len(row[2].split()) for row in part],
            "questions": [row[2] for row in part],
        }
        for topic, part in (("Heat", questions[:half]), ("Forming", questions[half:]))
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mascqa-eval.json").write_text(json.dumps(topics), encoding="utf-8")
    sheet = folder / "scoresheets" / "all_questions.xlsx"
    sheet.parent.mkdir(exist_ok=True)
    book = openpyxl.Workbook()
    book.active.append(["Question Info", "Question Type", "Correct Answer", "TOPIC"])
    for name, kind, _, gold in questions if answers is None else answers:
        book.active.append([name, kind, gold, "own"])
    book.save(sheet)
    return folder


def user_rows() -> list[dict[str, Any]]:
    """Return rows of a user's own benchmark, one of each kind of reference."""
    return [
        {
            "problem_id": "sum-1",
            "problem": "What is 2 + 3?",
            "reference": "5",
            "answer_format": "integer",
            "options": None,
        },
        {
            "problem_id": "pick-1",
            "problem": "Which is a bird?",
            "reference": "B",
            "answer_format": "choice",
            "options": ["cat", "owl"],
            "stratum": "animals",
            "license": "CC0-1.0",
        },
        {
            "problem_id": "speed-1",
            "problem": "How fast, in km/h?",
            "reference": "3.5",
            "answer_format": "numeric",
            "options": None,
            "unit": "km/h",
        },
    ]
