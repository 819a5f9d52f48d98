"""Schedules of the replay studies, and that their calls are made in that order."""

import asyncio
import itertools
from collections import Counter
from pathlib import Path

import pytest

from dhd.config.prompts import PromptSettings
from dhd.deliberation import Cell, MessageRow, Pool, ProtocolSetup
from dhd.messages import ExpertRole, MessageFields
from dhd.problems import Problem
from dhd.prompts import PromptSet
from dhd.requests import Completion, Decoding, KeyMaker, ModelIdentity, Request
from dhd.studies import masking_schedule, order_schedule, repeats_schedule, replay_schedule

SEVEN = [("full", 0, 1), ("full", 0, 2), *(("removal", i, 1) for i in range(1, 6))]


def kinds(cells: list[Cell]) -> list[tuple[str, int, int]]:
    return [(cell.condition, cell.message_index, cell.repeat) for cell in cells]


def blocks_of(schedule: tuple[Cell, ...]) -> dict[int, list[Cell]]:
    found: dict[int, list[Cell]] = {}
    for cell in schedule:
        found.setdefault(cell.block, []).append(cell)
    return found


def test_repeats_have_two_full_pools_and_five_removals_in_every_block() -> None:
    blocks = blocks_of(repeats_schedule(5))
    assert list(blocks) == [1, 2, 3, 4, 5]
    for cells in blocks.values():
        assert sorted(kinds(cells)) == sorted(SEVEN)
        assert [cell.slot for cell in cells] == [1, 2, 3, 4, 5, 6, 7]
        assert {(cell.study, cell.k) for cell in cells} == {("repeats", 5)}
        assert kinds(cells) == kinds(blocks[1])


def test_full_pools_are_interleaved_with_removals() -> None:
    conditions = [cell.condition for cell in repeats_schedule(5)]
    neighbours = Counter(itertools.pairwise(conditions))
    assert neighbours["full", "full"] == 0


def test_more_blocks_leave_the_first_ones_as_they_are() -> None:
    assert repeats_schedule(5)[: 3 * 7] == repeats_schedule(3)
    assert order_schedule(3, seed=1, label="x")[:7] == order_schedule(1, seed=1, label="x")


def test_a_random_order_is_a_permutation_with_its_slots() -> None:
    for cells in blocks_of(order_schedule(3, seed=1, label="x")).values():
        assert sorted(kinds(cells)) == sorted(SEVEN)
        assert [cell.slot for cell in cells] == list(range(1, 8))
        assert {cell.study for cell in cells} == {"order"}


def test_orders_differ_between_blocks_problems_and_seeds() -> None:
    orders = {
        (seed, label, block): tuple(kinds(cells))
        for seed in (1, 2)
        for label in ("x", "y")
        for block, cells in blocks_of(order_schedule(3, seed=seed, label=label)).items()
    }
    assert len(set(orders.values())) == len(orders)
    assert order_schedule(3, seed=1, label="x") == order_schedule(3, seed=1, label="x")


def test_every_call_is_equally_often_in_every_place() -> None:
    """700 blocks: a call is in a place 100 times, ± 5 standard errors."""
    places: Counter[tuple[object, int]] = Counter()
    for label in range(700):
        for cell in order_schedule(1, seed=1, label=str(label)):
            places[(cell.condition, cell.message_index, cell.repeat), cell.slot] += 1
    assert len(places) == 49
    assert all(abs(count - 100) < 5 * (700 * 6 / 49) ** 0.5 for count in places.values())


def test_masking_makes_eight_calls_of_six_conditions_in_a_repetition() -> None:
    blocks = blocks_of(masking_schedule(4, 5))
    assert list(blocks) == [1, 2, 3, 4, 5]
    for cells in blocks.values():
        assert Counter(cell.condition for cell in cells) == {
            "full": 2,
            "repeat": 2,
            "removal": 1,
            "neutral": 1,
            "mask_answer": 1,
            "mask_reasoning": 1,
        }
        assert {cell.message_index for cell in cells} == {4}
        assert [cell.slot for cell in cells] == list(range(1, 9))
        same_input = [cell.condition in ("full", "repeat") for cell in cells]
        assert not any(one and two for one, two in itertools.pairwise(same_input))


def test_every_call_is_a_draw_of_its_own_whatever_its_slot() -> None:
    schedules = (
        repeats_schedule(5),
        repeats_schedule(3, "integrator_swap"),
        order_schedule(3, seed=1, label="x"),
        *(masking_schedule(index, 5) for index in (1, 2)),
    )
    draws = [cell.draw for schedule in schedules for cell in schedule]
    assert len(set(draws)) == len(draws) == 5 * 7 + 2 * 3 * 7 + 2 * 5 * 8
    other = order_schedule(3, seed=2, label="x")
    assert {cell.draw for cell in other} == {cell.draw for cell in schedules[2]}


@pytest.fixture(scope="module")
def setup(project_root: Path) -> ProtocolSetup:
    prompts = PromptSet(PromptSettings(), project_root)
    return ProtocolSetup(prompts, {"integrator": Decoding(0.0, 64)})


def test_calls_are_made_one_after_the_other_in_schedule_order(setup: ProtocolSetup) -> None:
    problem = Problem("p", "b", "How many?", "3", "integer")
    role = ExpertRole("Counter", "counts")
    pool = Pool(
        tuple(
            MessageRow(n, role, MessageFields(str(n), key_idea=f"idea {n}"), str(n), "ok")
            for n in range(1, 6)
        )
    )
    asked: list[Request] = []
    under_way = 0

    async def generate(request: Request) -> Completion:
        nonlocal under_way
        under_way += 1
        assert under_way == 1
        asked.append(request)
        await asyncio.sleep(0)
        under_way -= 1
        return Completion("k", "ok", text='{"work": "", "final_answer": "3"}')

    schedule = order_schedule(2, seed=1, label="p")
    outcomes = asyncio.run(replay_schedule(problem, pool, schedule, setup, generate))
    assert tuple(outcome.cell for outcome in outcomes) == schedule
    assert [request.draw for request in asked] == [cell.draw for cell in schedule]
    assert {request.role for request in asked} == {"integrator"}
    keys = KeyMaker(ModelIdentity("m"), seed=1)
    assert len({keys.key(request) for request in asked}) == 14
    assert len({request.turns for request in asked}) == 6
    for cell, request in zip(schedule, asked, strict=True):
        text = request.turns[-1].content
        shown = [n for n in range(1, 6) if f"idea {n}" in text]
        assert shown == [n for n in range(1, 6) if n != cell.message_index]
