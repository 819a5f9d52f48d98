"""The simulated engine in the end-to-end protocols: it votes, routes and learns from rejection."""

import asyncio
from statistics import mean

import pytest

from dhd.config.models import SimulatedModel
from dhd.config.prompts import PromptSettings
from dhd.prompts.protocol_views import Rejected
from dhd.prompts.protocols import ProtocolPrompts
from dhd.protocols import EndToEndSetup, ProtocolRun, call_bounds, run_protocol
from dhd.simulation.reading import held_in, rejected_in
from dhd.simulation.stand_ins import codes, stand_in
from support.simulated import PROJECT_ROOT, asking, model, problem, setup

CODES = codes("jeebench")[:40]
# Hardly any certain problems, so that rounds, routes and votes of all kinds occur.
UNSURE = model(difficulty={"spread": 1.0, "ability": {"default": -0.5}}, verdicts={})


def end_to_end() -> EndToEndSetup:
    return EndToEndSetup("sim", setup(), ProtocolPrompts(PromptSettings(), PROJECT_ROOT))


def runs(protocol: str, settings: SimulatedModel = UNSURE) -> list[ProtocolRun]:
    generate, shared = asking(settings), end_to_end()

    async def everything() -> list[ProtocolRun]:
        return [await run_protocol(protocol, problem(c), shared, generate) for c in CODES]

    return asyncio.run(everything())


@pytest.mark.parametrize("protocol", ["direct", "iterative", "per", "broadcast"])
def test_every_protocol_runs_to_its_end(protocol: str) -> None:
    found, bounds = runs(protocol), call_bounds(protocol, end_to_end())
    assert {run.status for run in found} == {"ok"}
    assert all(bounds.fewest <= run.calls <= bounds.most for run in found)


def test_further_rounds_solve_more() -> None:
    direct, iterative = runs("direct"), runs("iterative")
    shares = [mean(bool(run.correct) for run in found) for found in (direct, iterative)]
    assert 0.1 < shares[0] < shares[1]
    assert {run.rounds for run in iterative} == {1, 2, 3}


def test_reviews_and_votes_go_both_ways() -> None:
    cycles = {run.calls for run in runs("per")}
    assert min(cycles) == call_bounds("per", end_to_end()).fewest
    assert len(cycles) > 3


def test_a_prompt_shows_what_was_rejected_and_what_is_up_for_approval() -> None:
    prompts, one = end_to_end().prompts, problem(CODES[0])
    rejected = (Rejected("B", "a hint"), Rejected(None, "another"))
    text = prompts.solver(one, rejected).turns[-1].content
    assert rejected_in(text) == ["B", "none was given"]
    review = prompts.reviewer(one, rejected, "plan", "work", "A, C").turns[-1].content
    assert held_in(review) == "A, C"
    assert held_in(prompts.reviewer(one, (), "plan", "work", None).turns[-1].content) == (
        "none was given"
    )


def test_a_rejected_answer_is_not_given_again() -> None:
    never = model(difficulty={"spread": 0.01, "ability": {"default": -9000.0}})
    generate, shared = asking(never), end_to_end()
    for code in CODES[:10]:
        item = stand_in(code).item
        rejected = tuple(Rejected(answer, "hint") for answer in item.wrong[:2])
        prompt = shared.prompts.solver(problem(code), rejected)
        request = shared.base.request("integrator", prompt.turns, prompt.schema)
        assert item.wrong[2] in str(asyncio.run(generate(request)).text)
