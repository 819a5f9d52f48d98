"""The short version of ``make simulate``: all studies on two benchmarks, against its plan."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from dhd.config.load import load_study
from dhd.config.models import SimulatedModel
from dhd.planning.assumptions import Assumptions
from dhd.planning.plan import PlanRow, make_plan
from dhd.records import load_records
from dhd.simulation.files import write_stand_ins
from dhd.simulation.pools import recorded_pools
from support.studies import PROJECT_ROOT, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

SIMULATE: dict[str, Any] = yaml.safe_load((PROJECT_ROOT / "config" / "simulate.yaml").read_text())
BENCHMARKS = ("omni_math_2", "lab_bench")
PROBLEMS, REPEATED = 24, 8
STUDIES = {
    "repeats": {"problems": REPEATED, "blocks": 4, "stratified": ["omni_math_2"]},
    "order": {"problems": REPEATED, "blocks": 4},
    "integrator_swap": {"problems": REPEATED, "blocks": 4, "integrators": {"gemma": ["oss"]}},
    "masking": {"families": ["gemma"], "repetitions": 5, "cases": {"indeterminate": 16}},
    "protocols": {},
    "evaluators": {
        "models": ["sim-oss", "sim-llama-70b", "sim-gemma-27b"],
        "submissions": 60,
        "triplets": 6,
    },
}

REPLAYS = ("repeats", "order", "integrator_swap", "masking")


def short_config(folder: Path) -> dict[str, Any]:
    """Return ``config/simulate.yaml`` with few problems; its problems lie in a folder."""
    write_stand_ins(folder / "data" / "stand_ins", PROBLEMS)
    return SIMULATE | {
        "benchmarks": {name: SIMULATE["benchmarks"][name] for name in BENCHMARKS},
        "studies": SIMULATE["studies"] | STUDIES,
        "analysis": SIMULATE["analysis"]
        | {"bootstrap_resamples": 200, "permutation_draws": 100, "crossfit_null_draws": 50},
    }


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulate")
    (folder / "config.yaml").write_text(yaml.safe_dump(short_config(folder)))
    snakemake(folder, folder / "config.yaml", "all")
    return folder


def asked(folder: Path, part: str) -> list[dict[str, Any]]:
    """Return the journal lines of one part of the study."""
    return [
        json.loads(line)
        for path in folder.glob(f"results/simulate/journal/{part}/**/*.jsonl")
        for line in path.read_text().splitlines()
    ]


def tokens(rows: list[PlanRow], kind: str) -> float:
    """Return the planned tokens: ``prompt`` or ``output``."""
    return sum(getattr(row, f"{kind}_tokens") for row in rows)


def logged(lines: list[dict[str, Any]], kind: str) -> int:
    """Return the logged tokens: ``prompt`` or ``completion``."""
    return sum(line.get(f"{kind}_tokens", 0) for line in lines)


def test_every_table_and_figure_is_there(finished: Path) -> None:
    tables = {path.stem for path in (finished / "results/simulate/tables").glob("*.csv")}
    figures = {path.stem for path in (finished / "results/simulate/figures").glob("*.pdf")}
    assert {f"table_{number:02d}" for number in range(1, 29)} <= tables
    assert {f"figure_{number:02d}" for number in (4, 6, 7, 8, 9)} <= figures


def test_the_plan_is_what_was_asked(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(finished)
    study = load_study(short_config(finished), source="test", root=PROJECT_ROOT)
    rows = make_plan(study, Assumptions(), sample=None)
    for family, (part, stage) in product(
        study.settings.families, {"scan": "deliberation", "protocols": "protocols"}.items()
    ):
        planned = [row for row in rows if (row.line.part, row.line.family) == (part, family)]
        lines = asked(finished, f"{stage}/{family}")
        assert sum(row.calls for row in planned) == pytest.approx(len(lines))
        assert tokens(planned, "prompt") == pytest.approx(logged(lines, "prompt"))
        assert tokens(planned, "output") == pytest.approx(logged(lines, "completion"))
    for part in REPLAYS:
        planned = [row for row in rows if (row.line.part, row.line.stage) == (part, "replays")]
        lines = asked(finished, part)
        assert sum(row.calls for row in planned) == pytest.approx(len(lines))
        assert lines
        assert tokens(planned, "prompt") == pytest.approx(logged(lines, "prompt"), rel=0.05)
        # Each has at least 448 calls of random length: a standard error of 2.4 %.
        assert tokens(planned, "output") == pytest.approx(logged(lines, "completion"), rel=0.05)


def test_the_plan_of_evaluations_is_what_was_asked(
    finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(finished)
    study = load_study(short_config(finished), source="test", root=PROJECT_ROOT)
    rows = make_plan(study, Assumptions(), sample=None)
    # All parts are judged in the same journals; only the sampled replays can differ.
    judging = [row for row in rows if row.line.stage == "judging"]
    assert {row.line.part for row in judging} == {"scan", *REPLAYS}
    lines = asked(finished, "judging")
    assert sum(row.calls for row in judging) == pytest.approx(len(lines), rel=0.005)
    for ours, theirs in (("prompt", "prompt"), ("output", "completion")):
        assert tokens(judging, ours) == pytest.approx(logged(lines, theirs), rel=0.05)
    for model in STUDIES["evaluators"]["models"]:
        audit = [row for row in rows if (row.line.part, row.line.model) == ("evaluators", model)]
        lines = asked(finished, f"audits/{model}")
        assert sum(row.calls for row in audit) == pytest.approx(len(lines))
        assert tokens(audit, "prompt") == pytest.approx(logged(lines, "prompt"), rel=0.05)


@pytest.mark.parametrize("family", ["oss", "gemma"])
def test_repeats_are_right_as_often_as_planted(finished: Path, family: str) -> None:
    """Every replay against its own chance; the two full pools of a block are drawn apart."""
    study = load_study(short_config(finished), source="test", root=PROJECT_ROOT)
    model = study.models[study.settings.families[family].actor]
    evaluator = study.evaluator()
    assert isinstance(model, SimulatedModel)
    assert isinstance(evaluator, SimulatedModel)
    records = load_records(finished / "results/simulate/records")
    mine = records.messages[records.messages["model"] == family]
    uids, pools = recorded_pools(model.world(), mine)
    seen = pools.seen(evaluator.verdicts, model.format, np.random.default_rng(1))
    chances = np.column_stack([seen.full, seen.removals])
    rows = records.outcomes[
        (records.outcomes["study"] == "repeats")
        & (records.outcomes["model"] == family)
        & records.outcomes["correct"].notna()
    ]
    assert len(rows) > 0.98 * REPEATED * 4 * 7 * len(BENCHMARKS)
    places = [uids.index(uid) for uid in rows["problem_uid"]]
    chance = chances[places, rows["message_index"].to_numpy(int)]
    residual = rows["correct"].to_numpy(float) - chance
    variance = chance * (1 - chance)
    assert abs(residual.sum()) < 4 * np.sqrt(variance.sum())
    table = rows.assign(residual=residual, variance=variance)
    table = table[table["condition"] == "full"].astype({"problem_uid": str})
    pairs = table.pivot(
        index=["problem_uid", "block"], columns="repeat", values=["residual", "variance"]
    ).dropna()
    assert len(pairs) > 0.95 * REPEATED * 4 * len(BENCHMARKS)
    product = pairs["residual"].prod(axis=1).sum()
    assert abs(product) < 4 * np.sqrt(pairs["variance"].prod(axis=1).sum())


def test_the_same_again_asks_nothing(finished: Path) -> None:
    before = {path: path.stat().st_size for path in finished.glob("results/**/*.jsonl")}
    config = short_config(finished)
    config["bundles"] = {"deliberation_shards": 1}
    (finished / "again.yaml").write_text(yaml.safe_dump(config))
    snakemake(finished, finished / "again.yaml", "all")
    assert {path: path.stat().st_size for path in finished.glob("results/**/*.jsonl")} == before
