"""Power of a repeats design: exact against brute force, and against what an engine gives."""

import asyncio
import json
from itertools import product

import numpy as np
import pandas as pd
import pytest

from dhd.analysis.repeated.separation import separation, separation_of_counts
from dhd.config.models import SimulatedModel
from dhd.deliberation import Deliberation
from dhd.problems import Problem
from dhd.simulation.pools import PlantedPools, draw_pools, recorded_pools
from dhd.simulation.power import (
    KINDS,
    PowerSettings,
    design_power,
    draw_blocks,
    separation_chances,
)
from dhd.simulation.settings import FormatSettings, VerdictSettings
from dhd.simulation.stand_ins import codes
from dhd.stages.deliberate import scan_tables
from support.simulated import asking, model, problem, scan, setup


def brute_force(p: float, r: float, blocks: int) -> tuple[float, float]:
    """Return both chances as a sum over all outcomes of all calls."""
    found = [0.0, 0.0]
    for outcome in product(*[[(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]] * blocks):
        chance, counts = 1.0, [0] * 5
        for first, second, removal in outcome:
            for hit, likely in ((first, p), (second, p), (removal, r)):
                chance *= likely if hit else 1 - likely
            counts[first + second - 2 * removal + 2] += 1
        label = int(separation_of_counts([counts])[0])
        if label:
            found[0 if label > 0 else 1] += chance
    return found[0], found[1]


@pytest.mark.parametrize("blocks", [2, 3, 4])
@pytest.mark.parametrize(("p", "r"), [(0.9, 0.2), (0.5, 0.5), (0.15, 0.8), (1.0, 0.0)])
def test_exact_chances_equal_brute_force(p: float, r: float, blocks: int) -> None:
    helpful, harmful = separation_chances([p], [r], blocks)
    assert (helpful[0], harmful[0]) == pytest.approx(brute_force(p, r, blocks), abs=1e-12)


def test_chances_keep_the_shape_and_refuse_one_block() -> None:
    helpful, harmful = separation_chances(np.full((3, 1), 0.9), np.full((3, 5), 0.1), 5)
    assert helpful.shape == harmful.shape == (3, 5)
    with pytest.raises(ValueError, match="at least 2"):
        separation_chances([0.5], [0.5], 1)


def test_drawn_studies_separate_as_many_messages_as_expected() -> None:
    rng = np.random.default_rng(5)
    pools = draw_pools(model().world(), codes("lab_bench")[:300], seed=1)
    helpful, harmful = separation_chances(pools.full[:, None], pools.removals, 5)
    found = np.zeros(2)
    draws = 40
    for _ in range(draws):
        blocks = draw_blocks(pools, 5, rng)
        labels = separation(blocks.differences, blocks.valid)
        found += [(labels > 0).sum(), (labels < 0).sum()]
    assert found[0] / draws == pytest.approx(helpful.sum(), rel=0.15)
    assert found[1] / draws == pytest.approx(harmful.sum(), rel=0.15)


def planted(p: float, r: float, problems: int = 50) -> PlantedPools:
    removals = np.full((problems, 5), p)
    removals[:, 0] = r
    return PlantedPools(np.full(problems, p), removals, np.zeros((problems, 5), dtype=np.int8))


def test_a_design_finds_planted_effects_and_more_blocks_find_more() -> None:
    pools, settings = planted(0.9, 0.1), PowerSettings(draws=3)
    few, many = (design_power(pools, 50, blocks, settings) for blocks in (3, 6))
    assert few.planted == many.planted == 50
    assert few.power < many.power
    assert many.power > 0.95
    assert many.blocked_problems > few.blocked_problems
    assert many.calls == 50 * 6 * 7
    assert few.wrong_helpful.mean == pytest.approx(
        50 * few.power + few.false_direction / 2, abs=0.5
    )


def test_without_effects_hardly_anything_is_selected() -> None:
    found = design_power(planted(0.6, 0.6), 50, 5, PowerSettings(draws=10))
    assert found.planted == 0
    assert np.isnan(found.power)
    assert found.blocked_problems < 0.5
    assert np.isnan(design_power(planted(0.6, 0.6), 5, 2, PowerSettings(draws=0)).blocked_problems)


def observed_counts(
    pools: PlantedPools, settings: PowerSettings, rng: np.random.Generator
) -> list[int]:
    """Return the counts of one study call by call: answered or not, right or not, then judged."""

    def judged(right: np.ndarray) -> np.ndarray:
        passes = np.where(right, 1 - settings.verdicts.false_fail, settings.verdicts.false_pass)
        return np.asarray(rng.random(right.shape) < passes)

    drawn = draw_blocks(pools, 5, rng)
    answered = rng.random(drawn.outcomes.shape) >= settings.format.no_answer
    outcomes = judged(drawn.outcomes == 1) & answered
    seen = type(drawn)(**{**drawn.__dict__, "outcomes": outcomes.astype(np.int8)})
    labels, is_right = separation(seen.differences, seen.valid), judged(pools.proposals == 1)
    return [((labels == sign) & (is_right == right)).sum() for right in (0, 1) for sign in (1, -1)]


def test_counts_are_those_of_studies_with_their_evaluators_errors() -> None:
    """Means and ranges against studies drawn call by call; without the errors they differ."""
    pools = draw_pools(model().world(), codes("scibench")[:200], seed=3)
    settings = PowerSettings(
        draws=0,
        range_draws=400,
        verdicts=VerdictSettings(false_pass=0.1, false_fail=0.1),
        format=FormatSettings(no_answer=0.1),
    )
    expected = design_power(pools, 200, 5, settings)
    rng = np.random.default_rng(9)
    draws = 400
    found = np.array([observed_counts(pools, settings, rng) for _ in range(draws)])
    for place, kind in enumerate(KINDS):
        count, drawn = getattr(expected, kind), found[:, place]
        error = drawn.std() / np.sqrt(draws)
        assert count.mean == pytest.approx(drawn.mean(), abs=4 * error + 0.3), kind
        assert ((drawn >= count.low) & (drawn <= count.high)).mean() > 0.9, kind
        assert count.low < count.mean < count.high
    blind = design_power(pools, 200, 5, PowerSettings(draws=0, range_draws=0))
    assert blind.correct_harmful.mean < 0.8 * expected.correct_harmful.mean
    assert np.isnan(blind.correct_harmful.low)


def test_repeats_of_the_engine_find_what_was_planted() -> None:
    """Scan, replay in blocks, separate: counts within four standard deviations of the truth."""
    settings = model(
        difficulty={"spread": 4.0}, messages={"weighty": 0.5, "reasoning_sd": 8.0}, replay_noise=0.5
    )
    names, blocks = codes("lab_bench")[:100], 4
    results = scan(settings, names)
    frame = scan_tables("m", results)["messages"].to_pandas()
    uids, truth = recorded_pools(settings.world(), frame)
    assert uids == sorted(result.problem.problem_uid for result in results)
    outcomes = asyncio.run(_replayed(settings, results, blocks))
    drawn = draw_blocks(truth, blocks, np.random.default_rng(1))
    order = np.argsort([result.problem.problem_uid for result in results])
    observed = type(drawn)(**{**drawn.__dict__, "outcomes": outcomes[order]})
    labels = separation(observed.differences, observed.valid)
    for sign, chances in zip(
        (1, -1), separation_chances(truth.full[:, None], truth.removals, blocks), strict=True
    ):
        found = int((labels == sign).sum())
        # Messages of a problem share the full-pool calls, which at most multiplies the variance.
        sd = np.sqrt(5 * (chances * (1 - chances)).sum())
        assert chances.sum() > 10
        assert abs(found - chances.sum()) < 4 * sd
    mean_effect = observed.outcomes[:, :, 0].mean() - observed.outcomes[:, :, 2:].mean()
    assert mean_effect == pytest.approx(truth.effects.mean(), abs=0.03)


async def _replayed(
    settings: SimulatedModel, results: list[Deliberation], blocks: int
) -> np.ndarray:
    """Return the outcomes of all slots: problems × blocks × 7."""
    generate, shared = asking(settings), setup()
    rows = []
    for result in results:
        one = result.problem
        everything = (1, 2, 3, 4, 5)
        shown = [everything] * 2 + [tuple(i for i in everything if i != j) for j in everything]
        hits = []
        for block in range(blocks):
            for slot, indices in enumerate(shown):
                turns = shared.prompts.integrator(one, result.pool.shown(indices))
                schema = shared.prompts.integrator_schema(one)
                draw = f"block={block}/slot={slot}"
                completion = await generate(shared.request("integrator", turns, schema, draw))
                hits.append(_is_right(one, str(completion.text)))
        rows.append(np.array(hits, dtype=np.int8).reshape(blocks, 7))
    return np.stack(rows)


def _is_right(one: Problem, text: str) -> bool:
    return bool(json.loads(text)["final_answer"] == one.reference)


def test_a_pool_with_an_unrendered_message_has_no_truth() -> None:
    frame = scan_tables("m", scan(model(), ["OM-00001", "OM-00002"]))["messages"].to_pandas()
    frame.loc[0, "rendered"] = False
    uids, truth = recorded_pools(model().world(), frame)
    assert uids == [problem("OM-00002").problem_uid]
    assert truth.full.shape == (1,)
    assert pd.notna(truth.effects).all()
