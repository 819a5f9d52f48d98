"""Latent truths: the chance of an integrator call by hand, and what a prompt shows of it."""

from dataclasses import replace
from math import exp, sqrt
from statistics import mean, stdev

import pytest

from dhd.deliberation import Cell
from dhd.messages import FIELD_NAMES, MessageFields
from dhd.prompts import IndexedMessage
from dhd.simulation.draws import normal, uniforms
from dhd.simulation.reading import item_in, messages_in
from dhd.simulation.stand_ins import codes, stand_in
from dhd.simulation.world import Shown, logistic
from support.simulated import model, problem, scan, setup

CODES = codes("omni_math_2")[:600]


def test_levels_have_the_mean_spread_and_correlation_of_the_settings() -> None:
    difficulty = {"ability": {"default": 0.5}, "spread": 4.0, "common": 0.5, "stratum_slope": 0.0}
    one, other = (model(name, difficulty=difficulty).world() for name in ("one", "other"))
    items = [stand_in(code) for code in CODES]
    levels = [one.level(item) / 4.0 for item in items]
    assert mean(levels) == pytest.approx(0.5, abs=0.12)
    assert stdev(levels) == pytest.approx(1.0, abs=0.1)
    others = [other.level(item) / 4.0 for item in items]
    products = [(a - 0.5) * (b - 0.5) for a, b in zip(levels, others, strict=True)]
    assert mean(products) == pytest.approx(0.5, abs=0.12)


def test_a_chance_is_the_formula_worked_by_hand() -> None:
    settings = model(
        difficulty={"ability": {"default": 0.1}, "spread": 2.0, "common": 0.25},
        messages={
            "answer_pull": 0.7,
            "weighty": 1.0,
            "reasoning_mean": 0.2,
            "reasoning_sd": 1.5,
            "common": 0.36,
            "dilution": 0.5,
        },
        replay_noise=0.8,
    )
    item, world = stand_in("JB-00007"), settings.world()
    common, own = (
        normal(uniforms("level", "JB-00007")[0]),
        normal(uniforms("level", "JB-00007", "m")[0]),
    )
    level = 2.0 * (0.1 + 0.5 * common + sqrt(0.75) * own)
    score = 0.6 * normal(uniforms("route", "0123abcd")[1]) + 0.8 * normal(
        uniforms("route", "0123abcd", "m")[0]
    )
    shifts = (0.2 + 1.5 * score) + 0.7, -0.7, 0.0
    shown = [Shown(item.item.right, "0123abcd"), Shown(item.item.wrong[1]), Shown("elsewhere")]
    logit = level + sum(shifts) / sqrt(3)
    assert world.chance(item, shown) == pytest.approx(1 / (1 + exp(-logit / 0.8)))
    assert world.chance(item, ()) == pytest.approx(1 / (1 + exp(-level / 0.8)))


def test_without_noise_every_chance_is_certain() -> None:
    assert [logistic(logit, 0.0) for logit in (-1e-9, 0.0, 1e-9)] == [0.0, 0.5, 1.0]
    assert logistic(-1e6, 1.0) == 0.0
    assert logistic(0.3, 1e-300) == 1.0


def test_a_prompt_shows_exactly_the_messages_of_its_cell() -> None:
    (result,) = scan(model(), ["LB-00640"])
    prompts = setup().prompts
    expected = {
        message.message_index: Shown(
            message.fields.proposed_answer,
            str(message.fields.reasoning_direction).split()[1].rstrip(":"),
        )
        for message in result.pool.messages
    }
    for cell in (Cell("single", 1, 3), Cell("full", 5), Cell("removal", 4, 2)):
        turns = prompts.integrator(problem("LB-00640"), result.pool.shown(cell.indices()))
        assert item_in(turns) is stand_in("LB-00640")
        assert messages_in(turns[-1].content, "LB-00640") == [expected[i] for i in cell.indices()]


def test_a_masked_part_of_a_message_is_not_seen() -> None:
    (result,) = scan(model(), ["OM-00003"])
    prompts, whole = setup().prompts, result.pool.messages[0]
    hidden = dict.fromkeys(FIELD_NAMES, "[...] [...]")

    def seen(fields: MessageFields) -> Shown:
        shown = [IndexedMessage(1, whole.role, fields)]
        turns = prompts.integrator(problem("OM-00003"), shown)
        return messages_in(turns[-1].content, "OM-00003")[0]

    complete = seen(whole.fields)
    masked = seen(replace(whole.fields, proposed_answer=hidden["proposed_answer"]))
    assert masked.route == complete.route
    assert masked.answer == "[...] [...]"
    world, item = model().world(), stand_in("OM-00003")
    assert world.shift(item, masked) == world.reasoning_shift(str(complete.route))
    assert seen(replace(whole.fields, reasoning_direction="[...]")).route is None
    assert world.shift(item, seen(MessageFields(**hidden))) == 0.0
