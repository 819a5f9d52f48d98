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
from synthetic_cells import BLOCKS, POOL, Cells, masking_cells, repeated_cells, scan_cells

from dhd.records import write_table

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Texts = npt.NDArray[np.object_]

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
REPEATED_PER_BENCHMARK = 200
SENSITIVITY_PER_BENCHMARK = 20
SENSITIVITY_BLOCKS = 3
MASKING_CASES = 22
SUBMISSIONS, TRIPLETS_PER_MODEL = 16_724, 150
CONFIDENCES = np.array(["high", "90%", "medium", "0.7", "low", None], dtype=object)


@dataclass(frozen=True)
class World:
    """The latent truth of one model about some problems: chances, shifts by message."""

    model: str
    uids: Texts
    solve: Floats
    shifts: Floats
    proposals: npt.NDArray[np.bool_]

    def at(self, positions: Ints) -> World:
        """Return the part about the problems at `positions`."""
        return World(
            self.model,
            self.uids[positions],
            self.solve[positions],
            self.shifts[positions],
            self.proposals[positions],
        )

    def chance(self, shown: npt.NDArray[np.bool_]) -> Floats:
        """Return problems × cells chances when `shown` (cells × 5) messages are available."""
        return np.clip(self.solve[:, None] + self.shifts @ shown.T, 0.005, 0.995)


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


def make_world(model: str, problems: pd.DataFrame, rng: np.random.Generator) -> World:
    """Draw the latent truth of `model` for all problems."""
    benchmarks, size = problems["benchmark"], len(problems)
    solved = rng.random(size) < benchmarks.map({b: v[2] for b, v in BENCHMARKS.items()})
    between = rng.random(size) < 0.12
    solve = np.where(between, rng.random(size), np.where(solved, 0.99, 0.01))
    shifts = rng.choice([-1, 1], (size, POOL)) * rng.uniform(0.2, 0.9, (size, POOL))
    shifts *= rng.random((size, POOL)) < 0.02
    accuracy = MODELS[model][0]
    proposals = rng.random((size, POOL)) < accuracy * (0.15 + 0.85 * solve)[:, None]
    return World(model, _objects(problems["problem_uid"]), solve, shifts, proposals)


def _objects(values: pd.Series) -> Texts:
    return np.asarray(values.to_numpy(dtype=object))


def _answers(uids: Texts, correct: npt.NDArray[np.bool_], rng: np.random.Generator) -> Texts:
    """Return one answer for the correct calls of a problem, one of three for its wrong ones."""
    endings = np.where(correct, "", rng.choice(["x", "y", "z"], len(correct))).astype(object)
    return np.asarray("A " + uids + endings)


def outcome_rows(
    study: str, world: World, integrator: str, cells: Cells, rng: np.random.Generator
) -> pd.DataFrame:
    """Draw the outcomes of one study for the problems of `world`."""
    chance = world.chance(cells.shown).ravel()
    size, per, count = len(chance), len(cells.k), len(world.uids)
    correct = rng.random(size) < chance
    status = np.searchsorted([0.994, 0.997, 1 - 2 * MODELS[world.model][1]], rng.random(size))
    answerless = (status == 1) | (status == 2)
    judged = pd.array(correct & ~answerless, dtype="boolean").astype("Int8")
    judged[status == 3] = pd.NA
    uids = np.repeat(world.uids, per)
    answers = _answers(uids, correct, rng)
    answers[status > 0] = None
    names = np.array(["ok", "no_answer", "truncated", "unjudged"], dtype=object)
    return pd.DataFrame(
        {
            "study": study,
            "model": world.model,
            "integrator": integrator,
            "problem_uid": uids,
            "condition": np.tile(np.array(cells.condition, dtype=object), count),
            "k": np.tile(np.array(cells.k, dtype=np.int32), count),
            "message_index": np.tile(np.array(cells.message_index, dtype=np.int32), count),
            "block": np.tile(np.array(cells.block, dtype=np.int32), count),
            "repeat": np.tile(np.array(cells.repeat, dtype=np.int32), count),
            "slot": np.tile(np.arange(1, per + 1, dtype=np.int32), count),
            "answer": answers,
            "correct": judged,
            "status": names[status],
        }
    )


def message_rows(world: World, rng: np.random.Generator) -> pd.DataFrame:
    """Return five messages a problem; a tenth of gemma's pools have messages without an answer."""
    count, size = len(world.uids), len(world.uids) * POOL
    correct = world.proposals.ravel()
    broken = np.repeat(rng.random(count) < (0.1 if world.model == "gemma" else 0.0), POOL)
    broken &= rng.random(size) < 0.3
    uids = np.repeat(world.uids, POOL)
    answers = _answers(uids, correct, rng)
    answers[broken] = None
    return pd.DataFrame(
        {
            "model": world.model,
            "problem_uid": uids,
            "message_index": np.tile(np.arange(1, POOL + 1, dtype=np.int32), count),
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
    benchmarks = problems["benchmark"]
    repeated = _sample(benchmarks, REPEATED_PER_BENCHMARK * scale, rng)
    few = _sample(benchmarks.iloc[repeated], SENSITIVITY_PER_BENCHMARK * scale, rng)
    sensitivity = repeated[few]
    for model, world in worlds.items():
        yield outcome_rows("scan", world, model, scan_cells(), rng)
        yield outcome_rows("repeats", world.at(repeated), model, repeated_cells(BLOCKS), rng)
        cells = repeated_cells(SENSITIVITY_BLOCKS)
        yield outcome_rows("order", world.at(sensitivity), model, cells, rng)
    world = worlds["gemma"]
    cells = repeated_cells(SENSITIVITY_BLOCKS)
    yield outcome_rows("integrator_swap", world.at(sensitivity), "oss", cells, rng)
    targets = rng.integers(1, POOL + 1, size=MASKING_CASES)
    for position, target in zip(repeated[:: len(repeated) // MASKING_CASES], targets, strict=False):
        cells = masking_cells(int(target))
        yield outcome_rows("masking", world.at(np.array([position])), "gemma", cells, rng)


def _audited(problems: pd.DataFrame, scale: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return what was submitted: single submissions, then triplets of three rows each."""
    singles, triplets = SUBMISSIONS * scale, TRIPLETS_PER_MODEL * scale * len(MODELS)
    models = np.array(list(MODELS), dtype=object)
    kinds = np.array(["independent", "single", "full"], dtype=object)
    position = rng.integers(len(problems), size=singles + triplets)
    repeats = np.array([1] * singles + [3] * triplets)
    chosen = problems.iloc[np.repeat(position, repeats)]
    of_triplets = np.repeat(models, 3 * triplets // len(models))
    names = [f"t{i}" for i in range(triplets) for _ in range(3)]
    return pd.DataFrame(
        {
            "submission_id": [f"s{i}" for i in range(len(chosen))],
            "model": np.concatenate([models[rng.integers(2, size=singles)], of_triplets]),
            "problem_uid": _objects(chosen["problem_uid"]),
            "kind": [
                *kinds[rng.integers(3, size=singles)],
                *["proposed", "full", "removal"] * triplets,
            ],
            "submitted": "A",
            "triplet_id": np.array([None] * singles + names, dtype=object),
            "benchmark": _objects(chosen["benchmark"]),
        }
    )


def evaluation_rows(problems: pd.DataFrame, scale: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return three verdicts on every audited submission."""
    audited = _audited(problems, scale, rng)
    size = len(audited)
    truth = rng.random(size) < 0.6
    parts = []
    for evaluator in EVALUATORS:
        verdict = pd.array(truth ^ (rng.random(size) < 0.02), dtype="boolean").astype("Int8")
        verdict[rng.random(size) < 0.003] = pd.NA
        parts.append(audited.assign(evaluator=evaluator, verdict=verdict))
    return pd.concat(parts, ignore_index=True)


def protocol_rows(worlds: dict[str, World], rng: np.random.Generator) -> pd.DataFrame:
    """Return one run of every protocol, model and problem."""
    parts = []
    for protocol, gain, tokens, calls in (
        ("direct", 0.0, 18_000, 10),
        ("iterative", 0.3, 48_000, 18),
        ("per", 0.6, 400_000, 99),
        ("broadcast", 0.75, 616_000, 135),
    ):
        for model, world in worlds.items():
            size = len(world.uids)
            solved = rng.random(size) < world.solve + gain * (1 - world.solve)
            correct = pd.array(solved, dtype="boolean").astype("Int8")
            correct[rng.random(size) < 0.001] = pd.NA
            total = rng.gamma(4.0, tokens / 4, size).astype(np.int64)
            parts.append(
                pd.DataFrame(
                    {
                        "protocol": protocol,
                        "model": model,
                        "problem_uid": world.uids,
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
    worlds = {model: make_world(model, problems, rng) for model in MODELS}
    messages = [message_rows(world, rng) for world in worlds.values()]
    outcomes = study_parts(worlds, problems, scale, rng)
    tables = {
        "problems": problems,
        "messages": pd.concat(messages, ignore_index=True),
        "outcomes": pd.concat(outcomes, ignore_index=True),
        "evaluations": evaluation_rows(problems, scale, rng),
        "protocol_runs": protocol_rows(worlds, rng),
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
