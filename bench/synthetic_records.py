"""Records of the paper's size, or a multiple of it, from a latent-variable model.

Usage: ``python bench/synthetic_records.py OUT [--scale N] [--seed S]``

The sizes are the paper's: five benchmarks with 6,666 problems, two models, the complete scan,
1,000 repeated problems a model, the order and integrator studies, 22 masking cases, 16,724
audited submissions and 300 triplets, four protocols. Rates are near the published ones. Each
problem has a chance of success; a few messages shift it; every call is one draw.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from dhd.records import write_table

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# key → (problems, uid prefix, share of problems that are solved nearly always)
BENCHMARKS = {
    "omni_math_2": (4181, "omni2:t4", 0.80),
    "jeebench": (515, "jeebench:Paper", 0.88),
    "scibench": (580, "scibench:quan", 0.78),
    "lab_bench": (741, "lab-bench:SeqQA", 0.45),
    "mascqa": (649, "mascqa:G", 0.93),
}
# key → (share of solved problems' messages that are correct, share of calls without judgement)
MODELS = {"oss": (0.93, 0.0), "gemma": (0.50, 0.0005)}
EVALUATORS = ("gpt-oss-120b", "Meta-Llama-3.1-70B-Instruct", "gemma-3-27b-it")
POOL = 5
REPEATED_PER_BENCHMARK = 200
SENSITIVITY_PER_BENCHMARK = 20
BLOCKS, SENSITIVITY_BLOCKS = 5, 3
MASKING_CASES = 22
SUBMISSIONS, TRIPLETS_PER_MODEL = 16_724, 150
CONFIDENCES = np.array(["high", "90%", "medium", "0.7", "low", None], dtype=object)


@dataclass(frozen=True)
class World:
    """The latent truth of one model: chances by problem and shifts by message."""

    model: str
    solve: Floats
    shifts: Floats
    proposals: npt.NDArray[np.bool_]

    def chance(self, shown: npt.NDArray[np.bool_]) -> Floats:
        """Return problems × cells chances when `shown` (cells × 5) messages are available."""
        return np.clip(self.solve[:, None] + self.shifts @ shown.T, 0.005, 0.995)


@dataclass(frozen=True)
class Cells:
    """The cells of one study, the same for every problem of it."""

    condition: list[str]
    k: list[int]
    message_index: list[int]
    block: list[int]
    repeat: list[int]
    shown: npt.NDArray[np.bool_]


def problems_table(scale: int) -> pd.DataFrame:
    """Return ``problems`` with every benchmark's count times `scale`."""
    parts = []
    for key, (count, prefix, _) in BENCHMARKS.items():
        rows = np.arange(count * scale)
        parts.append(
            pd.DataFrame(
                {
                    "problem_uid": [f"{prefix}:{row}" for row in rows],
                    "benchmark": key,
                    "stratum": None,
                    "problem": "A synthetic problem.",
                    "reference": [f"R{row}" for row in rows],
                    "answer_format": "text",
                    "options": None,
                    "license": "CC0-1.0",
                    "source": "synthetic",
                    "source_sha256": "0" * 64,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def make_world(model: str, benchmarks: pd.Series, rng: np.random.Generator) -> World:
    """Draw the latent truth of `model` for problems of the given benchmarks."""
    size = len(benchmarks)
    solved = rng.random(size) < benchmarks.map({b: v[2] for b, v in BENCHMARKS.items()})
    between = rng.random(size) < 0.12
    solve = np.where(between, rng.random(size), np.where(solved, 0.99, 0.01))
    shifts = rng.choice([-1, 1], (size, POOL)) * rng.uniform(0.2, 0.9, (size, POOL))
    shifts *= rng.random((size, POOL)) < 0.02
    accuracy = MODELS[model][0]
    proposals = rng.random((size, POOL)) < accuracy * (0.15 + 0.85 * solve)[:, None]
    return World(model, solve, shifts, proposals)


def scan_cells() -> Cells:
    """Return the 25 cells of the complete scan."""
    entries: list[tuple[str, int, int, set[int]]] = [("independent", 0, 0, set())]
    entries += [("single", 1, i, {i}) for i in range(1, POOL + 1)]
    entries += [("full", k, 0, set(range(1, k + 1))) for k in range(1, POOL + 1)]
    entries += [
        ("removal", k, i, set(range(1, k + 1)) - {i})
        for k in range(2, POOL + 1)
        for i in range(1, k + 1)
    ]
    return _cells([(c, k, i, 0, 1, shown) for c, k, i, shown in entries])


def repeated_cells(blocks: int) -> Cells:
    """Return seven cells a block: two full, five removals."""
    everything = set(range(1, POOL + 1))
    entries: list[tuple[str, int, int, int, int, set[int]]] = []
    for block in range(1, blocks + 1):
        entries += [("full", POOL, 0, block, repeat, everything) for repeat in (1, 2)]
        entries += [("removal", POOL, i, block, 1, everything - {i}) for i in sorted(everything)]
    return _cells(entries)


def masking_cells(target: int) -> Cells:
    """Return eight cells a block for one case; masking hides half of what the message does."""
    everything = set(range(1, POOL + 1))
    less = everything - {target}
    entries: list[tuple[str, int, int, int, int, set[int]]] = []
    for block in range(1, BLOCKS + 1):
        for condition in ("full", "repeat"):
            entries += [(condition, POOL, target, block, repeat, everything) for repeat in (1, 2)]
        for condition in ("removal", "neutral", "mask_reasoning"):
            entries.append((condition, POOL, target, block, 1, less))
        entries.append(("mask_answer", POOL, target, block, 1, everything))
    return _cells(entries)


def _cells(entries: list[tuple[str, int, int, int, int, set[int]]]) -> Cells:
    condition, k, index, block, repeat, shown = (
        list(column) for column in zip(*entries, strict=True)
    )
    matrix = np.array([[i in s for i in range(1, POOL + 1)] for s in shown])
    return Cells(condition, k, index, block, repeat, matrix)


def _category(codes: Ints, names: list[str]) -> pd.Categorical:
    return pd.Categorical.from_codes(codes, pd.Index(names))


def outcome_rows(
    study: str,
    world: World,
    integrator: str,
    uids: pd.Series,
    positions: Ints,
    cells: Cells,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Draw the outcomes of one study for the problems at `positions`."""
    some = World(world.model, world.solve[positions], world.shifts[positions], world.proposals)
    chance = some.chance(cells.shown).ravel()
    draw = rng.random(len(chance))
    correct = draw < chance
    status = np.searchsorted([0.994, 0.997, 1 - 2 * MODELS[world.model][1]], rng.random(len(draw)))
    answerless = (status == 1) | (status == 2)
    judged = pd.array(correct & ~answerless, dtype="boolean").astype("Int8")
    judged[status == 3] = pd.NA
    per, count = len(cells.k), len(positions)
    stems = np.repeat(positions, per).astype(str).astype(object)
    endings = np.where(correct, "", rng.choice(["x", "y", "z"], len(draw))).astype(object)
    answers = "A" + stems + endings
    answers[answerless | (status == 3)] = None
    names = sorted(set(cells.condition))
    codes = np.array([names.index(c) for c in cells.condition])
    return pd.DataFrame(
        {
            "study": _category(np.zeros(len(draw), dtype=np.int64), [study]),
            "model": _category(np.zeros(len(draw), dtype=np.int64), [world.model]),
            "integrator": _category(np.zeros(len(draw), dtype=np.int64), [integrator]),
            "problem_uid": uids.to_numpy(dtype=object)[np.repeat(positions, per)],
            "condition": _category(np.tile(codes, count), names),
            "k": np.tile(np.array(cells.k, dtype=np.int32), count),
            "message_index": np.tile(np.array(cells.message_index, dtype=np.int32), count),
            "block": np.tile(np.array(cells.block, dtype=np.int32), count),
            "repeat": np.tile(np.array(cells.repeat, dtype=np.int32), count),
            "slot": np.tile(np.arange(1, per + 1, dtype=np.int32), count),
            "answer": answers,
            "correct": judged,
            "status": _category(status, ["ok", "no_answer", "truncated", "unjudged"]),
        }
    )


def message_rows(world: World, uids: pd.Series, rng: np.random.Generator) -> pd.DataFrame:
    """Return five messages a problem; a tenth of gemma's pools have messages without an answer."""
    size = len(uids) * POOL
    correct = world.proposals.ravel()
    broken = np.repeat(rng.random(len(uids)) < (0.1 if world.model == "gemma" else 0.0), POOL)
    broken &= rng.random(size) < 0.3
    position = np.repeat(np.arange(len(uids)), POOL)
    endings = np.where(correct, "", rng.choice(["x", "y", "z"], size)).astype(object)
    answers = "A" + position.astype(str).astype(object) + endings
    answers[broken] = None
    return pd.DataFrame(
        {
            "model": world.model,
            "problem_uid": uids.to_numpy(dtype=object)[position],
            "message_index": np.tile(np.arange(1, POOL + 1, dtype=np.int32), len(uids)),
            "role_name": "Analyst",
            "role_lens": "a lens",
            "proposed_answer": answers,
            "reasoning_direction": "forward",
            "key_idea": "split into cases",
            "critical_assumption": "none",
            "what_to_check": "units",
            "confidence": CONFIDENCES[rng.integers(len(CONFIDENCES), size=size)],
            "proposed_answer_extracted": answers,
            "rendered": ~(broken & (rng.random(size) < 0.5)),
            "proposal_correct": pd.array(correct & ~broken, dtype="boolean").astype("Int8"),
            "status": np.where(broken, "invalid_format", "ok"),
        }
    )


def _sample(benchmarks: pd.Series, each: int, rng: np.random.Generator) -> Ints:
    """Return positions of `each` problems of every benchmark (all of a smaller one), in order."""
    shuffled = pd.Series(rng.permutation(len(benchmarks)))
    return np.sort(shuffled.groupby(benchmarks.to_numpy()[shuffled]).head(each).to_numpy())


def study_parts(
    worlds: dict[str, World], problems: pd.DataFrame, scale: int, rng: np.random.Generator
) -> Iterator[pd.DataFrame]:
    """Yield the outcomes of every study and model."""
    uids, benchmarks = problems["problem_uid"], problems["benchmark"]
    repeated = _sample(benchmarks, REPEATED_PER_BENCHMARK * scale, rng)
    few = _sample(benchmarks.iloc[repeated], SENSITIVITY_PER_BENCHMARK * scale, rng)
    sensitivity = repeated[few]
    for model, world in worlds.items():
        everything = np.arange(len(problems))
        yield outcome_rows("scan", world, model, uids, everything, scan_cells(), rng)
        cells = repeated_cells(BLOCKS)
        yield outcome_rows("repeats", world, model, uids, repeated, cells, rng)
        cells = repeated_cells(SENSITIVITY_BLOCKS)
        yield outcome_rows("order", world, model, uids, sensitivity, cells, rng)
    world = worlds["gemma"]
    cells = repeated_cells(SENSITIVITY_BLOCKS)
    yield outcome_rows("integrator_swap", world, "oss", uids, sensitivity, cells, rng)
    targets = rng.integers(1, POOL + 1, size=MASKING_CASES)
    for position, target in zip(repeated[:: len(repeated) // MASKING_CASES], targets, strict=False):
        cells = masking_cells(int(target))
        yield outcome_rows("masking", world, "gemma", uids, np.array([position]), cells, rng)


def evaluation_rows(problems: pd.DataFrame, scale: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return three verdicts on every audited submission and on every triplet's three answers."""
    submissions = SUBMISSIONS * scale
    triplets = TRIPLETS_PER_MODEL * scale * len(MODELS)
    size = submissions + 3 * triplets
    position = np.concatenate(
        [
            rng.integers(len(problems), size=submissions),
            np.repeat(rng.integers(len(problems), size=triplets), 3),
        ]
    )
    models = np.array(list(MODELS), dtype=object)
    model = np.concatenate(
        [
            models[rng.integers(len(models), size=submissions)],
            np.repeat(models, 3 * triplets // len(models)),
        ]
    )
    kinds = np.array(["independent", "single", "full"], dtype=object)
    kind = np.concatenate(
        [
            kinds[rng.integers(3, size=submissions)],
            np.tile(np.array(["proposed", "full", "removal"], dtype=object), triplets),
        ]
    )
    triplet = np.array([None] * submissions + [f"t{i}" for i in range(triplets) for _ in range(3)])
    truth = rng.random(size) < 0.6
    parts = []
    for evaluator in EVALUATORS:
        verdict = pd.array(truth ^ (rng.random(size) < 0.02), dtype="boolean").astype("Int8")
        verdict[rng.random(size) < 0.003] = pd.NA
        parts.append(
            pd.DataFrame(
                {
                    "submission_id": [f"s{i}" for i in range(size)],
                    "model": model,
                    "problem_uid": problems["problem_uid"].to_numpy(dtype=object)[position],
                    "kind": kind,
                    "submitted": "A",
                    "evaluator": evaluator,
                    "verdict": verdict,
                    "triplet_id": triplet,
                    "benchmark": problems["benchmark"].to_numpy(dtype=object)[position],
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def protocol_rows(
    worlds: dict[str, World], uids: pd.Series, rng: np.random.Generator
) -> pd.DataFrame:
    """Return one run of every protocol, model and problem."""
    parts = []
    for protocol, gain, tokens, calls in (
        ("direct", 0.0, 18_000, 10),
        ("iterative", 0.3, 48_000, 18),
        ("per", 0.6, 400_000, 99),
        ("broadcast", 0.75, 616_000, 135),
    ):
        for model, world in worlds.items():
            size = len(uids)
            solved = rng.random(size) < world.solve + gain * (1 - world.solve)
            correct = pd.array(solved, dtype="boolean").astype("Int8")
            correct[rng.random(size) < 0.001] = pd.NA
            total = rng.gamma(4.0, tokens / 4, size).astype(np.int64)
            parts.append(
                pd.DataFrame(
                    {
                        "protocol": protocol,
                        "model": model,
                        "problem_uid": uids,
                        "answer": "A",
                        "correct": correct,
                        "prompt_tokens": total * 3 // 4,
                        "completion_tokens": total // 4,
                        "calls": rng.poisson(calls, size).astype(np.int32) + 1,
                    }
                )
            )
    return pd.concat(parts, ignore_index=True)


def write_records(out: Path, scale: int, seed: int = 1) -> None:
    """Write a records folder of `scale` times the paper's size."""
    rng = np.random.default_rng(seed)
    problems = problems_table(scale)
    worlds = {model: make_world(model, problems["benchmark"], rng) for model in MODELS}
    uids = problems["problem_uid"]
    messages = [message_rows(world, uids, rng) for world in worlds.values()]
    outcomes = list(study_parts(worlds, problems, scale, rng))
    tables = {
        "problems": problems,
        "messages": pd.concat(messages, ignore_index=True),
        "outcomes": pd.concat(
            [
                part.astype({c: object for c in part if part[c].dtype == "category"})
                for part in outcomes
            ],
            ignore_index=True,
        ),
        "evaluations": evaluation_rows(problems, scale, rng),
        "protocol_runs": protocol_rows(worlds, uids, rng),
    }
    for name, frame in tables.items():
        write_table(name, frame, out / f"{name}.parquet")


def main() -> None:
    """Write the records that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    parser.add_argument("--scale", type=int, default=1, help="multiple of the paper's size")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    write_records(args.out, args.scale, args.seed)


if __name__ == "__main__":
    main()
