"""Calibration under simulated truths: errors at their nominal rates, planted effects found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

from dhd.analysis.repeated.crossfit import arm_scores
from dhd.analysis.repeated.crossfit_control import crossfit_control
from dhd.analysis.repeated.message_test import exact_message_p
from dhd.analysis.repeated.multiplicity import selected
from dhd.analysis.repeated.problem_test import exact_problem_p, problem_patterns
from dhd.analysis.repeated.separation import separation
from dhd.analysis.repeated.separation_control import separation_control
from support.replay_blocks import make_blocks, random_blocks

pytestmark = pytest.mark.slow

STUDIES = 120
DRAWS = 199


def null_studies(count: int, problems: int) -> list[np.random.Generator]:
    return [np.random.default_rng([2026, problems, at]) for at in range(count)]


def planted(rng: np.random.Generator, null: int, helpful: int) -> tuple[object, np.ndarray]:
    """Return problems without effects, then problems whose first, wrong message is needed."""
    accuracy = np.full((null + helpful, 1, 7), 0.5)
    accuracy[null:, :, :] = 0.95
    accuracy[null:, :, 2] = 0.02
    outcomes = (rng.random((null + helpful, 5, 7)) < accuracy).astype(np.int8)
    effect = np.zeros((null + helpful, 5), dtype=bool)
    effect[null:, 0] = True
    return make_blocks(outcomes, np.zeros((null + helpful, 5))), effect


def test_p_values_of_the_separated_count_are_uniform_under_the_null() -> None:
    """Ties make the add-one p-value conservative; breaking them at random makes it uniform."""
    p_values = []
    for rng in null_studies(STUDIES, 60):
        control = separation_control(random_blocks(rng, 60), DRAWS, rng)
        null, observed = control.null["separated"], control.observed["separated"]
        above, equal = int((null > observed).sum()), int((null == observed).sum())
        p_values.append((above + rng.random() * (1 + equal)) / (1 + DRAWS))
        assert p_values[-1] <= control.p_value("separated") + 1e-12
    assert kstest(p_values, "uniform").pvalue > 0.01


def test_p_values_of_the_crossfit_control_are_uniform_under_the_null() -> None:
    p_values = []
    for rng in null_studies(STUDIES, 40):
        scores = arm_scores(random_blocks(rng, 40), 0)
        result = crossfit_control(scores, "all_action", DRAWS, rng)
        above = int((result.null > result.observed).sum())
        equal = int((result.null == result.observed).sum())
        p_values.append((above + rng.random() * (1 + equal)) / (1 + DRAWS))
    assert kstest(p_values, "uniform").pvalue > 0.01


def test_exact_p_values_are_valid_under_the_null() -> None:
    """P(p ≤ α) ≤ α for messages and problems, up to sampling error."""
    messages, problems = [], []
    for rng in null_studies(30, 100):
        study = random_blocks(rng, 100)
        messages.append(exact_message_p(study).reshape(-1))
        problems.append(exact_problem_p(problem_patterns(study)))
    for p_values, effective in ((np.concatenate(messages), 3000), (np.concatenate(problems), 2900)):
        for level in (0.01, 0.05, 0.2):
            allowed = level + 3 * np.sqrt(level * (1 - level) / effective)
            assert (p_values <= level).mean() <= allowed


def test_bh_keeps_its_false_discovery_rate_and_finds_planted_effects() -> None:
    proportions, found = [], []
    for rng in null_studies(40, 120):
        study, effect = planted(rng, null=90, helpful=30)
        kept = selected(exact_message_p(study), "bh", 0.05)
        proportions.append((kept & ~effect).sum() / max(1, kept.sum()))
        found.append((kept & effect).sum() / effect.sum())
        assert (selected(exact_message_p(study), "by", 0.05) <= kept).all()
    # The other messages of a planted problem share its full outcomes; none of them is an effect.
    assert np.mean(proportions) <= 0.05
    assert np.mean(found) >= 0.6


def test_planted_effects_are_separated_and_beat_every_shuffle() -> None:
    study, effect = planted(np.random.default_rng(1), null=60, helpful=20)
    labels = separation(study.differences, study.valid)
    assert (labels[effect] == 1).mean() >= 0.9
    control = separation_control(study, DRAWS, np.random.default_rng(2))
    assert control.p_value("wrong_helpful") == 1 / (1 + DRAWS)
    p_values = exact_problem_p(problem_patterns(study))
    assert selected(p_values, "bh", 0.05)[60:].mean() >= 0.8
