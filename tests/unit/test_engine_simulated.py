"""The simulated engine: it repeats itself, keeps its rates, and says what it cannot answer."""

import asyncio
from collections import Counter
from math import sqrt
from statistics import mean

import pytest

from dhd.config.models import SimulatedModel
from dhd.deliberation import recruit_pool
from dhd.engines.build import build_engine
from dhd.engines.simulated import SimulatedEngine
from dhd.errors import EngineError
from dhd.messages import FIELD_NAMES
from dhd.parsing import parse_verdict
from dhd.problems import Problem
from dhd.requests import Decoding, KeyMaker, Request
from dhd.simulation.stand_ins import codes, stand_in
from dhd.simulation.world import is_right
from support.simulated import asking, model, problem, scan, setup

CODES = codes("jeebench")[:120]


def close_to(share: float, trials: int) -> object:
    """Return what a share over this many trials equals within four standard errors."""
    return pytest.approx(share, abs=4 * sqrt(share * (1 - share) / trials) + 1e-9)


def test_the_same_settings_answer_the_same_requests_alike() -> None:
    one, other = (scan(model(), CODES[:4]) for _ in range(2))
    assert one == other
    assert scan(model("another"), CODES[:4]) != one


def test_a_batch_answers_every_request_once_whatever_its_order() -> None:
    settings = model(max_in_flight=7)
    engine, keys = build_engine(settings), KeyMaker(settings.identity(), 1)
    assert isinstance(engine, SimulatedEngine)
    prompts, decoding = setup().prompts, Decoding(0.0, 4096)
    requests = [
        Request("integrator", prompts.integrator(problem(code), ()), decoding) for code in CODES[:7]
    ]

    async def answered(order: list[Request]) -> dict[str, object]:
        await engine.start()
        for request in order:
            engine.submit(keys.key(request), request)
        found = {completion.key: completion for completion in await engine.poll()}
        assert await engine.poll() == []
        await engine.close()
        return found

    forward = asyncio.run(answered(requests))
    assert len(forward) == engine.capacity == 7
    assert asyncio.run(answered(requests[::-1])) == forward


def test_well_formed_outputs_are_parsed_and_answered() -> None:
    results = scan(model(), CODES)
    assert {row.status for result in results for row in result.pool.messages} == {"ok"}
    outcomes = [row for result in results for row in result.outcomes]
    assert {row.status for row in outcomes} == {"ok"}
    for result in results:
        item = stand_in(result.problem.problem_uid.partition(":")[2]).item
        known = {item.right, item.other_form, *item.wrong}
        assert {row.answer for row in result.outcomes} <= known


def test_faulty_outputs_come_at_their_rates() -> None:
    rates = {
        "failed": 0.05,
        "truncated": 0.1,
        "invalid": 0.1,
        "no_answer": 0.1,
        "missing_field": 0.3,
        "loose_json": 0.5,
    }
    results = scan(model(format=rates), CODES)
    pools = [result for result in results if result.pool.has_roster]
    outcomes = Counter(row.status for result in pools for row in result.outcomes)
    assert set(outcomes) == {"ok", "failed", "truncated", "no_answer"}
    assert outcomes["failed"] / outcomes.total() == close_to(0.05, outcomes.total())
    assert outcomes["truncated"] / outcomes.total() == close_to(0.95 * 0.1, outcomes.total())
    messages = [row for result in pools for row in result.pool.messages if row.is_rendered]
    lacking = [row for row in messages if None in (getattr(row.fields, n) for n in FIELD_NAMES)]
    assert len(lacking) / len(messages) == close_to(0.3, len(messages))


def test_a_failed_call_says_so_and_fails_again() -> None:
    generate = asking(model(format={"failed": 1.0}))
    pool = asyncio.run(recruit_pool(problem("MS-00001"), setup(), generate))
    assert not pool.has_roster
    assert pool.messages[0].reason == "no_roster: simulated_failure"


def test_messages_are_right_as_often_as_planted() -> None:
    settings = model()
    world, results = settings.world(), scan(settings, CODES)
    expected = [world.message_chance(stand_in(code)) for code in CODES]
    found = [
        is_right(stand_in(code), str(row.answer))
        for code, result in zip(CODES, results, strict=True)
        for row in result.pool.messages
    ]
    sd = sqrt(sum(5 * p * (1 - p) for p in expected))
    assert abs(sum(found) - 5 * sum(expected)) < 4 * sd


def test_an_evaluator_errs_at_its_rates() -> None:
    generate, shared = asking(model(verdicts={"false_pass": 0.2, "false_fail": 0.3})), setup()
    verdicts: dict[bool, list[bool]] = {True: [], False: []}

    async def judge(code: str, answer: str, draw: int) -> bool:
        turns = shared.prompts.evaluator(problem(code), answer)
        schema = shared.prompts.evaluator_schema()
        request = shared.request("evaluator", turns, schema, f"{code}/{draw}")
        return bool(parse_verdict((await generate(request)).text).correct)

    for code in CODES:
        item = stand_in(code).item
        for draw in range(8):
            for right, answer in ((True, item.right), (False, item.wrong[0])):
                verdicts[right].append(asyncio.run(judge(code, answer, draw)))
    assert mean(verdicts[False]) == close_to(0.2, len(verdicts[False]))
    assert mean(verdicts[True]) == close_to(0.7, len(verdicts[True]))


def test_output_lengths_have_the_mean_of_the_settings() -> None:
    results = scan(model(lengths={"integrator": 900, "sd": 0.4}), CODES)
    lengths = [
        row.completion.completion_tokens
        for one in results
        for row in one.outcomes
        if row.completion
    ]
    assert mean(lengths) == pytest.approx(900, rel=0.03)


def test_text_fields_are_as_long_as_asked() -> None:
    (result,) = scan(model(lengths={"text_chars": 400}), CODES[:1])
    for row in result.pool.messages:
        assert 390 <= len(str(row.fields.key_idea)) <= 400


def test_other_problems_are_refused_with_the_way_out() -> None:
    other = Problem("mine:1", "mine", "What is 2 + 3?", "5", "integer")
    request = Request("integrator", setup().prompts.integrator(other, ()), Decoding(0.0, 64))
    with pytest.raises(EngineError, match="dhd stand-ins"):
        asyncio.run(asking(model())(request))


def test_batch_size_and_latency_are_no_part_of_the_identity() -> None:
    same = SimulatedModel(engine="simulated", max_in_flight=3, latency_s=1.0)
    assert same.identity() == SimulatedModel(engine="simulated").identity()
    assert model(replay_noise=2.0).identity() != model().identity()
